#pragma once
// State of a recurrent encoder-decoder: a vector or two a layer and row, and what its attention looks at.

#include "inference/decoder_state.h"
#include "models/rnn_seq2seq.h"

namespace limpid {

class RecurrentDecoderState : public DecoderState {
 public:
  explicit RecurrentDecoderState(const RnnSeq2Seq& model);

  int64_t rows() const override { return static_cast<int64_t>(sources_.size()); }
  std::vector<int32_t> add(std::span<const std::vector<int32_t>> texts) override;
  Tensor step(std::span<const int32_t> ids) override;
  void keep(std::span<const int32_t> rows) override;

 private:
  void keep_memory(Run& run, std::span<const int32_t> rows);

  const RnnSeq2Seq& model_;
  Arena arena_;
  RnnDecoderState state_;
  std::vector<int64_t> sources_;  // by row: the number of the source that it translates
  int64_t sources_read_ = 0;
};

}  // namespace limpid
