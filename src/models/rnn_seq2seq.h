#pragma once
// RnnSeq2Seq: the recurrent encoder-decoders that the Transformer replaced. Without attention the encoder's last state
// carries the whole sentence, given once (Sutskever et al. 2014) or at every step (Cho et al. 2014); with additive
// attention the decoder looks at all encoder states (Bahdanau et al. 2015).

#include "layers/additive_attention.h"
#include "layers/recurrent.h"
#include "models/model.h"

namespace limpid {

// What the decoder carries from token to token; rows are sequences.
struct RnnDecoderState {
  std::vector<RecurrentState> layers;
  Tensor context;  // the encoder's last state, where it is fed at every step
  Tensor memory;   // all encoder states, sequences end to end, and what additive attention makes of them
  Tensor keys;
  std::vector<int64_t> memory_lengths;
};

class RnnSeq2Seq : public Model {
 public:
  explicit RnnSeq2Seq(const Config& config);

  void visit_parameters(const WeightVisitor& visitor) override;
  Tensor forward(Run& run, const Batch& batch, const TokenChoice& choice) const override;
  Tensor finish(Run&, const Tensor& x, const Sequences&) const override { return x; }

  // Reads the sources; the state's rows stand in the given order of sequences.
  RnnDecoderState encode(Run& run, const Tokens& source, std::span<const int32_t> order) const;
  // Takes one token of each of the first ids.size() sequences and gives the vectors for the output layer.
  Tensor step(Run& run, RnnDecoderState& state, std::span<const int32_t> ids, const StepLayout& layout) const;

 private:
  Tensor step_embedded(Run& run, RnnDecoderState& state, const Tensor& x, const StepLayout& layout) const;

  RnnConfig rnn_;
  Weight source_embedding_, target_embedding_;
  Recurrent encoder_;
  std::vector<RecurrentCell> decoder_;
  AdditiveAttention attention_;
  Linear bridge_;
};

}  // namespace limpid
