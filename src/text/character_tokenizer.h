#pragma once
// CharacterTokenizer: every character is a token, a line's end too.

#include "text/storable_tokenizer.h"

namespace limpid {

class CharacterTokenizer final : public StorableTokenizer {
 public:
  CharacterTokenizer(std::shared_ptr<const Vocabulary> vocabulary, bool lowercase)
      : StorableTokenizer(std::move(vocabulary)), lowercase_(lowercase) {}

  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string bytes(int32_t id) const override;
  nlohmann::ordered_json json_parts() const override;

 private:
  bool lowercase_;
};

}  // namespace limpid
