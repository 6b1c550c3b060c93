#include "models/rnn_seq2seq.h"

#include <cmath>

namespace limpid {
namespace {

Weight table(const std::string& name, const Config& config) {
  return {.name = name + ".weight",
          .shape = {config.vocab, config.rnn.embed},
          .role = ParameterRole::embedding,
          .initial = Initial::normal(0.1)};
}

// Rows of the encoder's output, which stand in time order, as sequences end to end in the wanted order.
std::vector<int32_t> end_to_end(const TimeOrder& time, const Sequences& sequences, std::span<const int32_t> order) {
  std::vector<int32_t> rows;
  for (int32_t i : order)
    for (int64_t t = 0; t < sequences.length(i); ++t) rows.push_back(time.row_of_token[sequences.begin(i) + t]);
  return rows;
}

// Where each sequence of the wanted order stands among the encoder's, which go from the longest to the shortest.
std::vector<int32_t> places(const TimeOrder& time, std::span<const int32_t> order) {
  std::vector<int32_t> place(time.order.size()), result;
  for (size_t i = 0; i < time.order.size(); ++i) place[time.order[i]] = static_cast<int32_t>(i);
  for (int32_t i : order) result.push_back(place[i]);
  return result;
}

// Every text from its last token to its first.
std::vector<int32_t> backwards(const Tokens& tokens) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < tokens.sequences.count(); ++i)
    for (int64_t t = tokens.sequences.length(i); t-- > 0;) ids.push_back(tokens.ids[tokens.sequences.begin(i) + t]);
  return ids;
}

}  // namespace

RnnSeq2Seq::RnnSeq2Seq(const Config& config) : Model(config), rnn_(config.rnn) {
  source_embedding_ = table("encoder.embed", config);
  target_embedding_ = table("decoder.embed", config);
  encoder_ = Recurrent("encoder.rnn", {.cell = rnn_.cell,
                                       .inputs = rnn_.embed,
                                       .hidden = rnn_.hidden,
                                       .layers = rnn_.layers,
                                       .bidirectional = rnn_.bidirectional,
                                       .dropout = config.dropout.residual});
  const int64_t memory = rnn_.hidden * (rnn_.bidirectional ? 2 : 1);
  const int64_t fed = rnn_.context == ContextUse::initial ? 0 : memory;  // besides the last word
  for (int64_t layer = 0; layer < rnn_.layers; ++layer)
    decoder_.emplace_back(rnn_.cell, "decoder.rnn", "l" + std::to_string(layer),
                          layer == 0 ? rnn_.embed + fed : rnn_.hidden, rnn_.hidden);
  if (rnn_.context == ContextUse::additive) {
    attention_ = AdditiveAttention("decoder", rnn_.hidden, memory);
    bridge_ = Linear(rnn_.hidden, {{"bridge", rnn_.hidden}},
                     {.role = ParameterRole::recurrent, .initial = Initial::glorot(rnn_.hidden, rnn_.hidden)});
  }
  const int64_t features = rnn_.hidden + (fed > 0 ? fed + rnn_.embed : 0);
  output_ = Output(features, config.vocab,
                   {.tied = nullptr,
                    .weight_name = "output.weight",
                    .bias_name = "output.bias",
                    .bias_shape = {config.vocab},
                    .initial = Initial::uniform(1 / std::sqrt(static_cast<double>(features)))});
}

void RnnSeq2Seq::visit_parameters(const WeightVisitor& visitor) {
  visitor(source_embedding_);
  visitor(target_embedding_);
  encoder_.visit(visitor);
  for (RecurrentCell& cell : decoder_) cell.visit(visitor);
  if (rnn_.context == ContextUse::additive) {
    attention_.visit(visitor);
    bridge_.visit(visitor);
  }
  output_.visit(visitor);
}

RnnDecoderState RnnSeq2Seq::encode(Run& run, const Tokens& source, std::span<const int32_t> order) const {
  const TimeOrder time(source.sequences);
  const std::vector<int32_t> text = rnn_.reverse_source ? backwards(source) : source.ids;
  std::vector<int32_t> ids;
  for (int32_t token : time.token_of_row) ids.push_back(text[token]);
  Recurrent::Result read;
  {
    auto scope = run.scope("encoder");
    Tensor x = run.tap("embed", embedding(run, source_embedding_, ids));
    read = encoder_.forward(run, dropout_add(run, {}, std::move(x), config_.dropout.embedding), time);
  }
  const std::vector<int32_t> place = places(time, order);
  auto in_order = [&](const Tensor& rows) { return rows.empty() ? rows : select_rows(run, rows, place); };
  RnnDecoderState state;
  if (rnn_.context == ContextUse::additive) {
    state.memory = select_rows(run, read.outputs, end_to_end(time, source.sequences, order));
    state.keys = attention_.keys(run, state.memory);
    for (int32_t i : order) state.memory_lengths.push_back(source.sequences.length(i));
    const Tensor start = activation(run, bridge_.forward(run, in_order(read.last.back().h)), Activation::tanh);
    for (const RecurrentCell& cell : decoder_)
      state.layers.push_back({start, cell.zero(run, static_cast<int64_t>(order.size())).c});
  } else {
    for (const RecurrentState& last : read.last) state.layers.push_back({in_order(last.h), in_order(last.c)});
    if (rnn_.context == ContextUse::every_step) state.context = state.layers.back().h;
  }
  return state;
}

Tensor RnnSeq2Seq::step(Run& run, RnnDecoderState& state, std::span<const int32_t> ids,
                        const StepLayout& layout) const {
  Tensor x;
  {
    auto scope = run.scope("decoder");
    x = run.tap("embed", embedding(run, target_embedding_, ids), layout.tap());
  }
  return step_embedded(run, state, dropout_add(run, {}, std::move(x), config_.dropout.embedding), layout);
}

// s_i = cell([y_{i-1}; c_i], s_{i-1}); the output layer sees [s_i; c_i; y_{i-1}]. Without a context, s_i alone.
Tensor RnnSeq2Seq::step_embedded(Run& run, RnnDecoderState& state, const Tensor& x, const StepLayout& layout) const {
  const int64_t rows = x.rows();
  for (RecurrentState& layer : state.layers) layer = layer.first(rows);
  Tensor context;
  if (rnn_.context == ContextUse::additive) {
    const Sequences memory(std::vector<int64_t>(state.memory_lengths.begin(), state.memory_lengths.begin() + rows));
    context = attention_.context(run, state.layers.back().h, state.keys.slice(0, memory.tokens()),
                                 state.memory.slice(0, memory.tokens()), memory, layout.tap());
  } else if (rnn_.context == ContextUse::every_step) {
    context = run.tap("context", state.context.slice(0, rows), layout.tap());
  }
  const Tensor both[] = {x, context};
  Tensor y = context.empty() ? x : concatenate_columns(run, both);
  for (size_t i = 0; i < decoder_.size(); ++i) {
    auto scope = run.scope("decoder." + std::to_string(i));
    if (i > 0) y = dropout_add(run, {}, y, config_.dropout.residual);
    state.layers[i] = decoder_[i].step(run, decoder_[i].project(run, y), state.layers[i], layout);
    y = state.layers[i].h;
  }
  if (context.empty()) return y;
  const Tensor features[] = {y, context, x};
  return concatenate_columns(run, features);
}

Tensor RnnSeq2Seq::forward(Run& run, const Batch& batch, const TokenChoice& choice) const {
  const TimeOrder time(batch.input.sequences);
  RnnDecoderState state = encode(run, batch.source, time.order);
  std::vector<Tensor> features;
  for (int64_t t = 0; t < time.steps(); ++t) {
    std::vector<int32_t> ids;
    for (int64_t row = time.begin[t]; row < time.begin[t + 1]; ++row)
      ids.push_back(batch.input.ids[time.token_of_row[row]]);
    const StepLayout layout{Sequences(std::vector<int64_t>(ids.size(), 1)), &time.order, t};
    features.push_back(step(run, state, ids, layout));
  }
  return choice.rows_of(run, select_rows(run, concatenate_rows(run, features), time.row_of_token));
}

}  // namespace limpid
