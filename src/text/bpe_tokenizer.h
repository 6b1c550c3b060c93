#pragma once
// BpeTokenizer: byte pair encoding as Hugging Face's library has it. Byte-level (GPT-2 and after it), where every byte
// has a token and nothing is unknown; or over characters with "▁" for a space, where a character that the vocabulary
// lacks is unknown or falls back to its bytes.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "text/added_tokens.h"
#include "text/normalizer.h"
#include "text/pair_merges.h"
#include "text/pre_tokenizer.h"
#include "text/storable_tokenizer.h"

namespace limpid {

struct BpeParts {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::vector<std::pair<std::string, std::string>> merges;  // in the order they were learned
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  nlohmann::ordered_json decoder;  // of tokenizer.json
  struct Added {
    int32_t id;
    AddedTokens::Rules rules = {};
  };
  std::vector<Added> added;  // tokens found in a text before anything else
  bool byte_fallback = false;
  bool fuse_unknown = false;  // unknown characters side by side are one token
  bool whole_words = false;   // a part that is a token is taken as it is, whatever the merges would make of it
};

class BpeTokenizer final : public StorableTokenizer {
 public:
  // `where` begins the message if the parts do not fit each other.
  BpeTokenizer(BpeParts parts, const std::string& where);

  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string bytes(int32_t id) const override;
  nlohmann::ordered_json json_parts() const override;
  bool is_added(int32_t id) const { return id < std::ssize(is_added_) && is_added_[id]; }  // found before anything else

 private:
  void encode_part(std::string_view part, bool first, std::vector<int32_t>& ids) const;
  void encode_valid(std::string_view text, bool first, std::vector<int32_t>& ids) const;
  void encode_normalized(std::string_view text, bool first, std::vector<int32_t>& ids) const;
  void encode_word(std::string_view word, std::vector<int32_t>& ids) const;
  std::vector<int32_t> smallest(std::string_view word) const;

  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  nlohmann::ordered_json decoder_;
  PairMerges merges_;
  AddedTokens added_, added_to_normalized_;
  std::vector<bool> is_added_;           // by id
  std::array<int32_t, 256> byte_ids_{};  // of the characters or tokens that stand for bytes; -1: there is none
  bool byte_fallback_, fuse_unknown_, whole_words_;
  bool strip_space_ = false;  // decoding takes the space before a text away
};

// "<0xEA>", as vocabularies write a byte that stands for itself alone; and back.
std::string byte_token(uint8_t byte);
std::optional<uint8_t> byte_of_token(std::string_view piece);

}  // namespace limpid
