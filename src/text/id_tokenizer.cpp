#include "text/id_tokenizer.h"

#include <charconv>

#include "base/error.h"

namespace limpid {

std::vector<int32_t> IdTokenizer::encode(std::string_view text) const {
  constexpr std::string_view kBetween = " \t,";
  std::vector<int32_t> ids;
  while (true) {
    const size_t begin = text.find_first_not_of(kBetween);
    if (begin == std::string_view::npos) return ids;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    int32_t id = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    check(
        error == std::errc() && end == word.data() + word.size() && id >= 0 && id < size_,
        "[text] \"{}\" is no token id below {}: this model has no vocabulary, so that a text is its ids, \"17 4 523\"",
        word, size_);
    ids.push_back(id);
    text.remove_prefix(word.size());
  }
}

std::string IdTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) text.append(text.empty() ? "" : " ").append(std::to_string(id));
  return text;
}

}  // namespace limpid
