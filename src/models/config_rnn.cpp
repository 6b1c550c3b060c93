// Our own recurrent models: no Hugging Face class reads them.

#include "base/error.h"
#include "models/config_family.h"

namespace limpid {
namespace {

ContextUse read_context(ConfigReader& reader) {
  const bool additive = reader.choice<bool>("attention", false, {{"none", false}, {"additive", true}});
  const auto context = reader.choice<ContextUse>(
      "context", ContextUse::initial, {{"initial", ContextUse::initial}, {"every_step", ContextUse::every_step}});
  check(!additive || context == ContextUse::initial,
        "[config] context is \"every_step\" where attention is \"additive\", which computes a context of its own for "
        "every "
        "step: allowed is context \"initial\", or attention \"none\"");
  return additive ? ContextUse::additive : context;
}

}  // namespace

// Parameters have the names of PyTorch's torch.nn.GRU and LSTM.
void read_rnn(ConfigReader& reader, Config& config) {
  config.family = Family::rnn_seq2seq;
  config.only_limpid = true;
  RnnConfig& rnn = config.rnn;
  rnn.layers = reader.size("layers");
  rnn.embed = reader.size("embed_dim");
  rnn.hidden = reader.size("hidden_size");
  rnn.cell = reader.choice<CellKind>("cell", {{"gru", CellKind::gru}, {"lstm", CellKind::lstm}});
  rnn.context = read_context(reader);
  rnn.bidirectional = reader.flag("bidirectional", false);
  check(!rnn.bidirectional || rnn.context == ContextUse::additive,
        "[config] bidirectional is true where attention is \"none\": the decoder starts from the encoder's states, "
        "layer by "
        "layer, and there would be twice as many: allowed is false, or attention \"additive\"");
  rnn.reverse_source = reader.flag("reverse_source", false);
  check(!rnn.reverse_source || rnn.context != ContextUse::additive,
        "[config] reverse_source is true where attention is \"additive\", which looks at all words anyway: allowed is "
        "false, or attention \"none\"");
  config.width = rnn.hidden;
  config.positions = PositionKind::none;
  config.final_norm = false;
  config.activation = Activation::tanh;
  config.output_bias = true;
  config.tie_output = config.share_source_embedding = false;
  config.dropout.residual = reader.dropout("dropout", 0);
  config.initializer_range = reader.at_least_zero("initializer_range", 0.02);
  config.pad_token = reader.token("pad_token_id", config.vocab);
  config.bos_token = reader.token("bos_token_id", config.vocab);
  config.eos_token = reader.token("eos_token_id", config.vocab);
  config.decoder_start_token = reader.token("decoder_start_token_id", config.vocab);
  check(config.decoder_start_token.has_value(),
        "[config] decoder_start_token_id is missing: the token that a translation starts from");
}

}  // namespace limpid
