#include "inference/recurrent_state.h"

#include <numeric>

namespace limpid {
namespace {

Tensor below(Run& run, const Tensor& upper, const Tensor& lower) {
  if (upper.empty() || lower.empty()) return upper.empty() ? lower : upper;
  const Tensor both[] = {upper, lower};
  return concatenate_rows(run, both);
}

Tensor chosen(Run& run, const Tensor& x, std::span<const int32_t> rows) {
  return x.empty() || rows.empty() ? Tensor{} : select_rows(run, x, rows);
}

}  // namespace

RecurrentDecoderState::RecurrentDecoderState(const RnnSeq2Seq& model) : model_(model) {
  start_token(model.config());  // without one there is nothing to begin with
}

void RecurrentDecoderState::read_sources(const std::vector<std::vector<int32_t>>& sources,
                                         std::span<const int64_t> /*limits*/) {
  Run run({.arena = arena_, .probe = probe_});
  std::vector<int32_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  const RnnDecoderState read = model_.encode(run, Tokens::of(sources), order);
  state_.layers.resize(read.layers.size());
  for (size_t i = 0; i < read.layers.size(); ++i)
    state_.layers[i] = {below(run, state_.layers[i].h, read.layers[i].h),
                        below(run, state_.layers[i].c, read.layers[i].c)};
  state_.context = below(run, state_.context, read.context);
  state_.memory = below(run, state_.memory, read.memory);
  state_.keys = below(run, state_.keys, read.keys);
  state_.memory_lengths.insert(state_.memory_lengths.end(), read.memory_lengths.begin(), read.memory_lengths.end());
  for (size_t i = 0; i < sources.size(); ++i) sources_.push_back(sources_read_++);
  count_bytes();
}

Tensor RecurrentDecoderState::read(std::span<const int32_t> ids) {
  check(static_cast<int64_t>(ids.size()) == rows(), "[decoder] {} tokens for {} rows: a step takes one token per row",
        ids.size(), rows());
  Run run({.arena = arena_, .probe = probe_});
  const StepLayout layout{Sequences(std::vector<int64_t>(ids.size(), 1))};
  return model_.step(run, state_, ids, layout);
}

// The memory lies row by row, sequences end to end. It stays as it is where every row goes on with the source it had:
// so it is while a beam works on the same texts.
void RecurrentDecoderState::keep_memory(Run& run, std::span<const int32_t> rows) {
  if (state_.memory.empty()) return;
  const Sequences before(state_.memory_lengths);
  std::vector<int32_t> tokens;
  std::vector<int64_t> lengths;
  for (int32_t row : rows) {
    for (int64_t t = 0; t < before.length(row); ++t) tokens.push_back(static_cast<int32_t>(before.begin(row) + t));
    lengths.push_back(before.length(row));
  }
  state_.memory = chosen(run, state_.memory, tokens);
  count_bytes();
  state_.keys = chosen(run, state_.keys, tokens);
  state_.memory_lengths = std::move(lengths);
}

void RecurrentDecoderState::reorder(std::span<const int32_t> rows) {
  Run run({.arena = arena_});
  std::vector<int64_t> sources;
  for (int32_t row : rows) sources.push_back(sources_.at(row));
  if (sources != sources_) keep_memory(run, rows);
  sources_ = std::move(sources);
  for (RecurrentState& layer : state_.layers) layer = {chosen(run, layer.h, rows), chosen(run, layer.c, rows)};
  state_.context = chosen(run, state_.context, rows);
  count_bytes();
}

// Rows are copied while others are chosen, so that for a moment there is twice as much. What attention looks at lies
// there for every row.
int64_t RecurrentDecoderState::bytes_for(const Need& need) const {
  const RnnConfig& rnn = model_.config().rnn;
  const int64_t memory_width = rnn.hidden * (rnn.bidirectional ? 2 : 1);
  const int64_t state = rnn.layers * rnn.hidden * (rnn.cell == CellKind::lstm ? 2 : 1);
  const int64_t context = rnn.context == ContextUse::every_step ? memory_width : 0;
  const int64_t memory = rnn.context == ContextUse::additive ? need.text * (memory_width + rnn.hidden) : 0;
  const int64_t rounding = 64 * (2 * rnn.layers + 3);  // blocks are whole lines of 64 bytes
  return 2 * (need.rows * (state + context + memory) * static_cast<int64_t>(sizeof(real)) + rounding);
}

}  // namespace limpid
