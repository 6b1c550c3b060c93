#pragma once
// SentencePieceTokenizer: subwords by byte pair encoding or a unigram language model, with the library of that name.

#include <memory>
#include <string>

#include "text/added_tokens.h"
#include "text/normalizer.h"
#include "text/sentencepiece_info.h"
#include "text/storable_tokenizer.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace limpid {

class SentencePieceTokenizer final : public StorableTokenizer {
 public:
  // `model` is what stands in a model file. Without a table the ids are the model's own; with one, the pieces have the
  // ids of the table, and pieces that it lacks are unknown. `before` is done to a text before the model sees it.
  // `where` begins the message if the model is broken.
  SentencePieceTokenizer(const std::string& model, std::string_view where,
                         std::shared_ptr<const Vocabulary> table = nullptr, Normalizer before = {});
  ~SentencePieceTokenizer() override;

  // Tokens of the table that the model does not know and that are found in a text before anything else.
  void look_for(AddedTokens added) { added_ = std::move(added); }

  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string bytes(int32_t id) const override;
  nlohmann::ordered_json json_parts() const override;
  std::string_view sentencepiece_model() const override { return model_; }

 private:
  using Processor = sentencepiece::SentencePieceProcessor;
  SentencePieceTokenizer(std::string model, std::unique_ptr<Processor> processor, std::string_view where,
                         std::shared_ptr<const Vocabulary> table, Normalizer before);

  void encode_part(std::string_view text, std::vector<int32_t>& ids) const;

  std::string model_;
  SentencePieceInfo facts_;
  std::unique_ptr<Processor> processor_;
  Normalizer before_;
  AddedTokens added_;
  std::vector<int32_t> to_table_;  // by the model's own id
};

// SentencePiece writes messages to stderr unless told not to.
void silence_sentencepiece();

}  // namespace limpid
