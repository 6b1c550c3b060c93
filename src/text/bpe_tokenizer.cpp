#include "text/bpe_tokenizer.h"

#include <charconv>

#include "base/error.h"
#include "text/byte_characters.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kSpaceMark = "\u2581";  // "▁"

// Whether decoding takes the first space away: the text had got it on its way in.
bool strips_space(const ordered_json& decoder) {
  if (!decoder.is_object()) return false;
  const auto type = decoder.at("type").get<std::string>();
  if (type == "Strip") return decoder.value("start", 0) > 0;
  if (type == "Metaspace")
    return decoder.value("prepend_scheme", "always") != "never" && decoder.value("add_prefix_space", true);
  if (type == "Sequence")
    for (const ordered_json& step : decoder.at("decoders"))
      if (strips_space(step)) return true;
  return false;
}

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string result;
  for (size_t at; (at = text.find(what)) != text.npos; text.remove_prefix(at + what.size()))
    result.append(text.substr(0, at)).append(by);
  return result.append(text);
}

}  // namespace

std::string byte_token(uint8_t byte) { return fmt::format("<0x{:02X}>", byte); }

std::optional<uint8_t> byte_of_token(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return std::nullopt;
  uint8_t byte = 0;
  const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, byte, 16);
  if (error != std::errc() || end != piece.data() + 5) return std::nullopt;
  return byte;
}

BpeTokenizer::BpeTokenizer(BpeParts parts, const std::string& where)
    : StorableTokenizer(std::move(parts.vocabulary)),
      normalizer_(std::move(parts.normalizer)),
      pre_tokenizer_(std::move(parts.pre_tokenizer)),
      decoder_(std::move(parts.decoder)),
      is_added_(static_cast<size_t>(size())),
      byte_fallback_(parts.byte_fallback),
      fuse_unknown_(parts.fuse_unknown),
      whole_words_(parts.whole_words),
      strip_space_(strips_space(decoder_)) {
  merges_.reserve(parts.merges.size());
  for (const auto& [left, right] : parts.merges) {
    const int32_t joined = vocabulary().find(left + right);
    const PairMerges::Pair pair = {vocabulary().find(left), vocabulary().find(right)};
    check(pair.first >= 0 && pair.second >= 0 && joined >= 0,
          "{}: joins \"{}\" and \"{}\", but the vocabulary lacks one of them or what they make: do the files belong "
          "together?",
          where, left, right);
    merges_.add(pair, joined);
  }
  for (const auto& [id, rules] : parts.added) {
    if (rules.normalized && !normalizer_.empty())
      added_to_normalized_.add(normalizer_.apply(vocabulary().piece(id)), id, rules);
    else
      added_.add(vocabulary().piece(id), id, rules);
    is_added_[static_cast<size_t>(id)] = true;
  }
  for (size_t byte = 0; byte < 256; ++byte)
    byte_ids_[byte] = vocabulary().find(pre_tokenizer_.byte_level() ? byte_characters()[byte]
                                                                    : byte_token(static_cast<uint8_t>(byte)));
}

std::vector<int32_t> BpeTokenizer::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  bool first = true;
  added_.each(
      text,
      [&](std::string_view part) {
        encode_part(part, first, ids);
        first = false;
      },
      [&](int32_t id) {
        ids.push_back(id);
        first = false;
      });
  return ids;
}

// Bytes that are no text stay what they are where bytes have tokens.
void BpeTokenizer::encode_part(std::string_view part, bool first, std::vector<int32_t>& ids) const {
  while (!part.empty()) {
    const size_t valid = invalid_utf8(part).value_or(part.size());
    if (valid > 0) encode_valid(part.substr(0, valid), first, ids);
    part.remove_prefix(valid);
    first = false;
    if (part.empty()) return;
    const int32_t id = byte_ids_[static_cast<uint8_t>(part[0])];
    if (id >= 0 || vocabulary().special().unknown >= 0) ids.push_back(id >= 0 ? id : vocabulary().special().unknown);
    part.remove_prefix(1);
  }
}

void BpeTokenizer::encode_valid(std::string_view text, bool first, std::vector<int32_t>& ids) const {
  if (normalizer_.empty()) return encode_normalized(text, first, ids);
  const std::string normalized = normalizer_.apply(text);
  if (added_to_normalized_.empty()) return encode_normalized(normalized, first, ids);
  added_to_normalized_.each(
      normalized,
      [&](std::string_view part) {
        encode_normalized(part, first, ids);
        first = false;
      },
      [&](int32_t id) {
        ids.push_back(id);
        first = false;
      });
}

void BpeTokenizer::encode_normalized(std::string_view text, bool first, std::vector<int32_t>& ids) const {
  if (text.empty()) return;
  std::string changed;
  if (const std::string& mark = pre_tokenizer_.space_mark(); !mark.empty()) {
    changed = replaced(text, " ", mark);
    const std::string& prefix = pre_tokenizer_.space_prefix();
    if ((prefix == "always" || (prefix == "first" && first)) && !changed.starts_with(mark)) changed.insert(0, mark);
    text = changed;
  } else if (pre_tokenizer_.prefix_space() && !is_space(first_code_point(text).value)) {
    text = changed = ' ' + std::string(text);
  }
  for (const std::string_view word : pre_tokenizer_.split(text)) encode_word(word, ids);
}

void BpeTokenizer::encode_word(std::string_view word, std::vector<int32_t>& ids) const {
  if (whole_words_) {
    std::string spelt;
    if (pre_tokenizer_.byte_level())
      for (const char byte : word) spelt += byte_characters()[static_cast<uint8_t>(byte)];
    const int32_t whole = vocabulary().find(spelt.empty() ? word : spelt);
    if (whole >= 0 && !vocabulary().is_special(whole)) return ids.push_back(whole);
  }
  std::vector<int32_t> parts = smallest(word);
  merges_.apply(parts);
  ids.insert(ids.end(), parts.begin(), parts.end());
}

std::vector<int32_t> BpeTokenizer::smallest(std::string_view word) const {
  std::vector<int32_t> ids;
  const int32_t unknown = vocabulary().special().unknown;
  const auto push_unknown = [&] {
    if (unknown >= 0 && !(fuse_unknown_ && !ids.empty() && ids.back() == unknown)) ids.push_back(unknown);
  };
  if (pre_tokenizer_.byte_level()) {
    for (const char byte : word)
      if (const int32_t id = byte_ids_[static_cast<uint8_t>(byte)]; id >= 0)
        ids.push_back(id);
      else
        push_unknown();
    return ids;
  }
  each_code_point(word, [&](char32_t, std::string_view bytes) {
    if (const int32_t id = vocabulary().find(bytes); id >= 0 && !vocabulary().is_special(id)) return ids.push_back(id);
    bool all = byte_fallback_;
    for (const char byte : bytes) all = all && byte_ids_[static_cast<uint8_t>(byte)] >= 0;
    if (!all) return push_unknown();
    for (const char byte : bytes) ids.push_back(byte_ids_[static_cast<uint8_t>(byte)]);
  });
  return ids;
}

std::string BpeTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) text += bytes(id);
  if (strip_space_ && text.starts_with(' ')) text.erase(0, 1);
  return repaired_utf8(std::move(text));
}

std::string BpeTokenizer::bytes(int32_t id) const {
  const std::string& piece = vocabulary().piece(id);
  if (vocabulary().is_special(id)) return "";
  if (pre_tokenizer_.byte_level()) return is_added_[static_cast<size_t>(id)] ? piece : bytes_of_piece(piece);
  if (const auto byte = byte_fallback_ ? byte_of_token(piece) : std::nullopt)
    return std::string(1, static_cast<char>(*byte));
  return replaced(piece, kSpaceMark, " ");
}

ordered_json BpeTokenizer::json_parts() const {
  ordered_json merges = ordered_json::array();
  for (const auto& [left, right] : merges_.pairs())
    merges.push_back(vocabulary().piece(left) + ' ' + vocabulary().piece(right));
  const int32_t unknown = vocabulary().special().unknown;
  ordered_json parts;
  parts["normalizer"] = normalizer_.json();
  parts["pre_tokenizer"] = pre_tokenizer_.json();
  parts["decoder"] = decoder_;
  parts["model"] = {{"type", "BPE"},
                    {"dropout", nullptr},
                    {"unk_token", unknown >= 0 ? ordered_json(vocabulary().piece(unknown)) : ordered_json(nullptr)},
                    {"continuing_subword_prefix", nullptr},
                    {"end_of_word_suffix", nullptr},
                    {"fuse_unk", fuse_unknown_},
                    {"byte_fallback", byte_fallback_},
                    {"ignore_merges", whole_words_},
                    {"vocab", vocabulary_json(vocabulary())},
                    {"merges", merges}};
  return parts;
}

}  // namespace limpid
