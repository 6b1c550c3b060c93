#include "base/cancellation.h"

#include <utility>

namespace limpid {
namespace {

thread_local CancellationScope* innermost = nullptr;

}  // namespace

CancellationScope::CancellationScope(std::function<void()> check)
    : check_(std::move(check)), before_(std::exchange(innermost, this)) {}

CancellationScope::~CancellationScope() { innermost = before_; }

void check_cancelled() {
  if (innermost) innermost->check_();
}

}  // namespace limpid
