#pragma once
// Which part of a generated corpus an example belongs to.

#include <array>
#include <string_view>

namespace limpid {

enum class Split {
  train,
  valid,          // sources that training never shows
  test,           // the same, and never shown by valid either
  compositional,  // known words in constructions that training never shows them in
};

inline constexpr std::array kSplits = {Split::train, Split::valid, Split::test, Split::compositional};

constexpr std::string_view split_name(Split split) {
  constexpr std::array<std::string_view, 4> kNames = {"train", "valid", "test", "compositional"};
  return kNames[static_cast<size_t>(split)];
}

}  // namespace limpid
