#pragma once
// Panels: weights of 64 outputs that lie together, from the first input to the last, for products that read them so.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "base/pages.h"

namespace limpid::kernels {

inline constexpr int64_t kPanelOutputs = 64;

inline int64_t panels_of(int64_t outputs) { return (outputs + kPanelOutputs - 1) / kPanelOutputs; }

inline std::shared_ptr<std::byte> allocate_panels(int64_t bytes) {
  auto data = allocate_pages(bytes);
  check(data != nullptr, "[weights] no memory for {} MB: close other programs or take a smaller model", bytes >> 20);
  return data;
}

}  // namespace limpid::kernels
