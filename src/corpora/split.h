#pragma once
// Which part of a generated corpus an example belongs to.

#include <array>
#include <string_view>

namespace limpid {

enum class Split {
  kTrain,
  kValid,          // sources that training never shows
  kTest,           // the same, and never shown by kValid either
  kCompositional,  // known words in constructions that training never shows them in
};

inline constexpr std::array kSplits = {Split::kTrain, Split::kValid, Split::kTest, Split::kCompositional};

constexpr std::string_view split_name(Split split) {
  constexpr std::array<std::string_view, 4> kNames = {"train", "valid", "test", "compositional"};
  return kNames[static_cast<size_t>(split)];
}

}  // namespace limpid
