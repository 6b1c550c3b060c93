#include "inference/decoder_state.h"

#include <limits>

#include "inference/recurrent_state.h"
#include "inference/transformer_state.h"

namespace limpid {

std::unique_ptr<DecoderState> make_decoder_state(const Model& model) {
  if (const auto* seq2seq = dynamic_cast<const Seq2Seq*>(&model)) return std::make_unique<Seq2SeqState>(*seq2seq);
  if (const auto* rnn = dynamic_cast<const RnnSeq2Seq*>(&model)) return std::make_unique<RecurrentDecoderState>(*rnn);
  if (const auto* writer = dynamic_cast<const LanguageModel*>(&model))
    return std::make_unique<LanguageModelState>(*writer);
  fail("[decoder] a model of type \"{}\" reads but does not write: take a language model or an encoder-decoder model",
       model.config().model_type);
}

int64_t most_positions(const Config& config) {
  const bool has_table = config.family != Family::rnn_seq2seq &&
                         (config.positions == PositionKind::learned || config.positions == PositionKind::sinusoidal);
  return has_table ? config.max_positions : std::numeric_limits<int64_t>::max();
}

}  // namespace limpid
