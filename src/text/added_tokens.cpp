#include "text/added_tokens.h"

#include <algorithm>

namespace limpid {

void AddedTokens::add(std::string text, int32_t id) {
  if (text.empty()) return;
  auto& tokens = by_first_byte_[static_cast<uint8_t>(text[0])];
  const auto place =
      std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) { return token.text.size() < text.size(); });
  tokens.insert(place, {std::move(text), id});
  empty_ = false;
}

void AddedTokens::each(std::string_view text, const std::function<void(std::string_view)>& part,
                       const std::function<void(int32_t)>& token) const {
  size_t begin = 0, at = 0;
  while (!empty_ && at < text.size()) {
    const auto& tokens = by_first_byte_[static_cast<uint8_t>(text[at])];
    const auto found = std::find_if(tokens.begin(), tokens.end(),
                                    [&](const Token& one) { return text.substr(at).starts_with(one.text); });
    if (found == tokens.end()) {
      ++at;
      continue;
    }
    if (at > begin) part(text.substr(begin, at - begin));
    token(found->id);
    begin = at += found->text.size();
  }
  if (begin < text.size()) part(text.substr(begin));
}

}  // namespace limpid
