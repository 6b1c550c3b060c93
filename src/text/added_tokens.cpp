#include "text/added_tokens.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/utf8.h"

namespace limpid {

namespace {

bool is_word_character(char32_t point) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(point));
  return point == '_' || (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO);
}

// The last character of a text that is not empty.
std::string_view last_character(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return text.substr(begin);
}

bool stands_alone(std::string_view before, std::string_view after) {
  return (before.empty() || !is_word_character(first_code_point(last_character(before)).value)) &&
         (after.empty() || !is_word_character(first_code_point(after).value));
}

}  // namespace

void AddedTokens::add(std::string text, int32_t id, Rules rules) {
  if (text.empty()) return;
  auto& tokens = by_first_byte_[static_cast<uint8_t>(text[0])];
  const auto place =
      std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) { return token.text.size() < text.size(); });
  tokens.insert(place, {std::move(text), id, rules});
  empty_ = false;
}

void AddedTokens::each(std::string_view text, const std::function<void(std::string_view)>& part,
                       const std::function<void(int32_t)>& token) const {
  size_t begin = 0, at = 0;
  while (!empty_ && at < text.size()) {
    const auto& tokens = by_first_byte_[static_cast<uint8_t>(text[at])];
    const auto found = std::find_if(tokens.begin(), tokens.end(), [&](const Token& one) {
      return text.substr(at).starts_with(one.text) &&
             (!one.rules.single_word || stands_alone(text.substr(0, at), text.substr(at + one.text.size())));
    });
    if (found == tokens.end()) {
      ++at;
      continue;
    }
    std::string_view before = text.substr(begin, at - begin);
    while (found->rules.lstrip && !before.empty() && is_space(first_code_point(last_character(before)).value))
      before.remove_suffix(last_character(before).size());
    if (!before.empty()) part(before);
    token(found->id);
    begin = at += found->text.size();
    while (found->rules.rstrip && at < text.size() && is_space(first_code_point(text.substr(at)).value))
      begin = at += first_code_point(text.substr(at)).bytes;
  }
  if (begin < text.size()) part(text.substr(begin));
}

}  // namespace limpid
