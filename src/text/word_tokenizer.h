#pragma once
// WordTokenizer: text that comes split by spaces; what stands between two spaces is a token. A token that ends in "@@"
// is the beginning of a word that the next one continues, which is how subword-nmt and Moses write subwords as text.

#include "text/storable_tokenizer.h"

namespace limpid {

// The words of a text: what stands between its white space.
std::vector<std::string_view> split_words(std::string_view text);
// Text split into such subwords as people read it.
std::string join_subwords(std::string text);

class WordTokenizer final : public StorableTokenizer {
 public:
  WordTokenizer(std::shared_ptr<const Vocabulary> vocabulary, bool lowercase)
      : StorableTokenizer(std::move(vocabulary)), lowercase_(lowercase) {}

  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string bytes(int32_t id) const override;
  nlohmann::ordered_json json_parts() const override;

 private:
  bool lowercase_;
};

}  // namespace limpid
