#pragma once
// States of the Transformers that write: keys and values of what was read lie in a cache.

#include "inference/decoder_state.h"
#include "models/language_model.h"
#include "models/seq2seq.h"

namespace limpid {

class Seq2SeqState : public DecoderState {
 public:
  explicit Seq2SeqState(const Seq2Seq& model);

  int64_t rows() const override { return cache_.sequences(); }
  std::vector<int32_t> add(std::span<const std::vector<int32_t>> texts) override;
  Tensor step(std::span<const int32_t> ids) override;
  void keep(std::span<const int32_t> rows) override;

 private:
  const Seq2Seq& model_;
  Arena arena_;
  KeyValueCache cache_{0};
  std::vector<Tensor> unseen_;  // by row: an encoder's output that the decoder has not looked at yet, else empty
  bool some_unseen_ = false;
};

class LanguageModelState : public DecoderState {
 public:
  explicit LanguageModelState(const LanguageModel& model) : model_(model) {}

  int64_t rows() const override { return cache_.sequences(); }
  std::vector<int32_t> add(std::span<const std::vector<int32_t>> texts) override;
  Tensor step(std::span<const int32_t> ids) override;
  void keep(std::span<const int32_t> rows) override { cache_.keep(rows); }

 private:
  Tensor read(const Tokens& tokens);

  const LanguageModel& model_;
  Arena arena_;
  KeyValueCache cache_{0};
};

}  // namespace limpid
