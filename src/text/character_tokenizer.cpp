#include "text/character_tokenizer.h"

#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace limpid {

std::vector<int32_t> CharacterTokenizer::encode(std::string_view text) const {
  std::string folded;
  if (lowercase_) text = folded = lower_case(text);
  std::vector<int32_t> ids;
  ids.reserve(text.size());
  each_code_point(text, [&](char32_t, std::string_view bytes) { ids.push_back(vocabulary().id_of_text(bytes)); });
  return ids;
}

std::string CharacterTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) text += bytes(id);
  return text;
}

std::string CharacterTokenizer::bytes(int32_t id) const {
  const std::string& piece = vocabulary().piece(id);
  return vocabulary().is_special(id) ? "" : piece;
}

nlohmann::ordered_json CharacterTokenizer::json_parts() const {
  nlohmann::ordered_json parts;
  parts["normalizer"] = lowercase_json(lowercase_);
  // [\s\S] rather than a dot, which leaves out the end of a line.
  parts["pre_tokenizer"] = {
      {"type", "Split"}, {"pattern", {{"Regex", "[\\s\\S]"}}}, {"behavior", "Isolated"}, {"invert", false}};
  parts["decoder"] = {{"type", "Fuse"}};
  parts["model"] = word_level_json(vocabulary());
  return parts;
}

}  // namespace limpid
