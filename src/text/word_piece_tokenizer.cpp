#include "text/word_piece_tokenizer.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;

bool starts_character(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) != 0x80; }

// A piece with the space before it, which signs and the endings of English do without.
std::string joined(std::string_view piece) {
  constexpr std::array<std::string_view, 9> kWithout = {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
  for (const std::string_view begin : kWithout)
    if (piece.starts_with(begin)) return std::string(piece);
  return ' ' + std::string(piece);
}

}  // namespace

WordPieceParts bert_parts(std::shared_ptr<const Vocabulary> vocabulary, const BertNormalizing& normalizing) {
  return {.vocabulary = std::move(vocabulary),
          .normalizer = Normalizer({{"type", "BertNormalizer"},
                                    {"clean_text", normalizing.clean},
                                    {"handle_chinese_chars", normalizing.ideographs},
                                    {"strip_accents", normalizing.strip_accents},
                                    {"lowercase", normalizing.lowercase}},
                                   "[tokenizer]"),
          .pre_tokenizer = PreTokenizer({{"type", "BertPreTokenizer"}}, "[tokenizer]")};
}

WordPieceTokenizer::WordPieceTokenizer(WordPieceParts parts, const std::string& where)
    : StorableTokenizer(std::move(parts.vocabulary)),
      normalizer_(std::move(parts.normalizer)),
      pre_tokenizer_(std::move(parts.pre_tokenizer)),
      prefix_(std::move(parts.prefix)),
      longest_word_(parts.longest_word),
      cleanup_(parts.cleanup) {
  check(special().unknown >= 0, "{}: has no token for the unknown: add \"[UNK]\" to it", where);
  for (const std::string& piece : vocabulary().pieces()) longest_piece_ = std::max(longest_piece_, piece.size());
}

std::vector<int32_t> WordPieceTokenizer::encode(std::string_view text) const {
  const std::string normal = normalizer_.apply(repaired_utf8(std::string(text)));
  std::vector<int32_t> ids;
  for (const std::string_view word : pre_tokenizer_.split(normal)) encode_word(word, ids);
  return ids;
}

void WordPieceTokenizer::encode_word(std::string_view word, std::vector<int32_t>& ids) const {
  const size_t before = ids.size();
  const auto unknown = [&] {
    ids.resize(before);
    ids.push_back(special().unknown);
  };
  if (std::count_if(word.begin(), word.end(), starts_character) > longest_word_) return unknown();
  std::string piece;
  while (!word.empty()) {
    size_t length = std::min(word.size(), longest_piece_);
    int32_t id = -1;
    for (; length > 0; --length) {
      if (length < word.size() && !starts_character(word[length])) continue;
      piece = ids.size() == before ? "" : prefix_;
      piece += word.substr(0, length);
      id = vocabulary().find(piece);
      if (id >= 0 && !vocabulary().is_special(id)) break;
    }
    if (length == 0) return unknown();
    ids.push_back(id);
    word.remove_prefix(length);
  }
}

std::string WordPieceTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    const std::string_view piece = vocabulary().piece(id);
    if (vocabulary().is_special(id)) continue;
    if (piece.starts_with(prefix_))
      text += piece.substr(prefix_.size());
    else if (text.empty())
      text += piece;
    else
      text += cleanup_ ? joined(piece) : ' ' + std::string(piece);
  }
  return text;
}

std::string WordPieceTokenizer::bytes(int32_t id) const {
  const std::string& piece = vocabulary().piece(id);
  if (vocabulary().is_special(id)) return "";
  return piece.starts_with(prefix_) ? piece.substr(prefix_.size()) : ' ' + piece;
}

ordered_json WordPieceTokenizer::json_parts() const {
  ordered_json parts;
  parts["normalizer"] = normalizer_.json();
  parts["pre_tokenizer"] = pre_tokenizer_.json();
  parts["decoder"] = {{"type", "WordPiece"}, {"prefix", prefix_}, {"cleanup", cleanup_}};
  parts["model"] = {{"type", "WordPiece"},
                    {"unk_token", vocabulary().piece(special().unknown)},
                    {"continuing_subword_prefix", prefix_},
                    {"max_input_chars_per_word", longest_word_},
                    {"vocab", vocabulary_json(vocabulary())}};
  return parts;
}

}  // namespace limpid
