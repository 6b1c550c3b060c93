#pragma once
// State of a recurrent encoder-decoder: a vector or two per layer and row, and what its attention looks at.

#include <algorithm>

#include "inference/decoder_state.h"
#include "models/rnn_seq2seq.h"

namespace limpid {

class RecurrentDecoderState : public SourceState {
 public:
  explicit RecurrentDecoderState(const RnnSeq2Seq& model);

  int64_t rows() const override { return static_cast<int64_t>(sources_.size()); }
  void reorder(std::span<const int32_t> rows) override;

  int64_t bytes_for(const Need& need) const override;
  int64_t bytes() const override { return arena_.bytes_in_use(); }
  int64_t most_bytes() const override { return most_bytes_; }

 private:
  void count_bytes() { most_bytes_ = std::max(most_bytes_, arena_.bytes_in_use()); }
  void keep_memory(Run& run, std::span<const int32_t> rows);

  void read_sources(const std::vector<std::vector<int32_t>>& sources, std::span<const int64_t> limits) override;
  int32_t start() const override { return static_cast<int32_t>(*model_.config().decoder_start_token); }
  Tensor read(std::span<const int32_t> ids) override;
  const Output& output() const override { return model_.output(); }

  const RnnSeq2Seq& model_;
  RnnDecoderState state_;
  std::vector<int64_t> sources_;  // by row: the number of the source that it translates
  int64_t sources_read_ = 0;
  int64_t most_bytes_ = 0;
};

}  // namespace limpid
