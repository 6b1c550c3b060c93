#include "text/word_tokenizer.h"

#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace limpid {

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  const char* begin = text.data();
  const auto close_word = [&](const char* end) {
    if (end > begin) words.emplace_back(begin, static_cast<size_t>(end - begin));
  };
  each_code_point(text, [&](char32_t point, std::string_view bytes) {
    if (!is_space(point)) return;
    close_word(bytes.data());
    begin = bytes.data() + bytes.size();
  });
  close_word(text.data() + text.size());
  return words;
}

std::string join_subwords(std::string text) {
  for (size_t at = 0; (at = text.find("@@ ", at)) != std::string::npos;) text.erase(at, 3);
  return text;
}

std::vector<int32_t> WordTokenizer::encode(std::string_view text) const {
  std::string folded;
  if (lowercase_) text = folded = lower_case(text);
  std::vector<int32_t> ids;
  for (const std::string_view word : split_words(text)) ids.push_back(vocabulary().id_of_text(word));
  return ids;
}

std::string WordTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  bool joined = true;  // to what stands before
  for (const int32_t id : ids) {
    std::string_view word = vocabulary().piece(id);
    if (vocabulary().is_special(id)) continue;
    if (!joined) text += ' ';
    joined = word.ends_with("@@");
    if (joined) word.remove_suffix(2);
    text += word;
  }
  return text;
}

// A space belongs to the word before it, which alone knows whether it goes on.
std::string WordTokenizer::bytes(int32_t id) const {
  const std::string& word = vocabulary().piece(id);
  if (vocabulary().is_special(id)) return "";
  return word.ends_with("@@") ? word.substr(0, word.size() - 2) : word + ' ';
}

nlohmann::ordered_json WordTokenizer::json_parts() const {
  nlohmann::ordered_json parts;
  parts["normalizer"] = lowercase_json(lowercase_);
  parts["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  // The decoder of WordPiece puts a space before every token that does not begin with its prefix; none of ours begins
  // with a space.
  parts["decoder"] = {{"type", "Sequence"},
                      {"decoders",
                       {{{"type", "WordPiece"}, {"prefix", " "}, {"cleanup", false}},
                        {{"type", "Fuse"}},
                        {{"type", "Replace"}, {"pattern", {{"Regex", "@@( |$)"}}}, {"content", ""}}}}};
  parts["model"] = word_level_json(vocabulary());
  return parts;
}

}  // namespace limpid
