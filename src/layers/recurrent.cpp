#include "layers/recurrent.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace limpid {

TimeOrder::TimeOrder(const Sequences& sequences) : order(sequences.count()) {
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return sequences.length(a) > sequences.length(b); });
  const int64_t longest = order.empty() ? 0 : sequences.length(order.front());
  row_of_token.resize(sequences.tokens());
  begin.push_back(0);
  for (int64_t t = 0; t < longest; ++t) {
    int64_t rows = 0;
    for (; rows < sequences.count() && sequences.length(order[rows]) > t; ++rows) {
      const int64_t token = sequences.begin(order[rows]) + t;
      row_of_token[token] = static_cast<int32_t>(token_of_row.size());
      token_of_row.push_back(static_cast<int32_t>(token));
    }
    running.push_back(rows);
    begin.push_back(static_cast<int64_t>(token_of_row.size()));
  }
  reversed.resize(token_of_row.size());
  for (int64_t i = 0; i < sequences.count(); ++i)
    for (int64_t t = 0, n = sequences.length(i); t < n; ++t)
      reversed[row_of_token[sequences.begin(i) + t]] = row_of_token[sequences.begin(i) + n - 1 - t];
}

RecurrentState RecurrentState::first(int64_t sequences) const {
  return {h.slice(0, sequences), c.empty() ? c : c.slice(0, sequences)};
}

RecurrentCell::RecurrentCell(CellKind kind, const std::string& prefix, const std::string& suffix, int64_t inputs,
                             int64_t hidden)
    : kind_(kind), hidden_(hidden) {
  const int64_t gates = (kind == CellKind::gru ? 3 : 4) * hidden;
  const LinearOptions options{.role = ParameterRole::recurrent,
                              .initial = Initial::uniform(1 / std::sqrt(static_cast<double>(hidden)))};
  auto named = [&](const char* which) {
    return Linear::Output{"", gates, prefix + ".weight_" + which + "_" + suffix,
                          prefix + ".bias_" + which + "_" + suffix};
  };
  input_ = Linear(inputs, {named("ih")}, options);
  state_ = Linear(hidden, {named("hh")}, options);
}

RecurrentState RecurrentCell::step(Run& run, const Tensor& projected, const RecurrentState& before,
                                   const StepLayout& layout) const {
  const Tensor recurrent = state_.forward(run, before.h);
  if (kind_ == CellKind::gru) {
    const Tensor gates = run.tap("gates", gru_gates(run, projected, recurrent), layout.tap());
    return {run.tap("h", gru_state(run, gates, before.h), layout.tap()), {}};
  }
  const Tensor gates = run.tap("gates", lstm_gates(run, projected, recurrent), layout.tap());
  const Tensor c = run.tap("c", lstm_cell(run, gates, before.c), layout.tap());
  return {run.tap("h", lstm_state(run, gates, c), layout.tap()), c};
}

RecurrentState RecurrentCell::zero(Run& run, int64_t sequences) const {
  const std::vector<real> zeros(sequences * hidden_, 0);
  const ConstMatrix view{zeros.data(), sequences, hidden_};
  return {constant(run, view), kind_ == CellKind::lstm ? constant(run, view) : Tensor{}};
}

void RecurrentCell::visit(const WeightVisitor& visitor) {
  input_.visit(visitor);
  state_.visit(visitor);
}

Recurrent::Recurrent(const std::string& prefix, const RecurrentOptions& options) : options_(options) {
  int64_t inputs = options.inputs;
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    const std::string suffix = "l" + std::to_string(layer);
    cells_.emplace_back(options.cell, prefix, suffix, inputs, options.hidden);
    if (options.bidirectional) cells_.emplace_back(options.cell, prefix, suffix + "_reverse", inputs, options.hidden);
    inputs = options.hidden * (options.bidirectional ? 2 : 1);
  }
}

// All steps of one direction. A sequence's last state is that of the step at which it ends.
std::pair<Tensor, RecurrentState> Recurrent::direction(Run& run, const RecurrentCell& cell, const Tensor& x,
                                                       const TimeOrder& time) const {
  const Tensor projected = cell.project(run, x);
  RecurrentState state = cell.zero(run, static_cast<int64_t>(time.order.size()));
  std::vector<Tensor> outputs, last_h, last_c;
  for (int64_t t = 0; t < time.steps(); ++t) {
    const int64_t rows = time.running[t];
    const StepLayout layout{Sequences(std::vector<int64_t>(rows, 1)), &time.order, t};
    state = cell.step(run, projected.slice(time.begin[t], rows), state.first(rows), layout);
    outputs.push_back(state.h);
    const int64_t next = t + 1 < time.steps() ? time.running[t + 1] : 0;
    if (next == rows) continue;
    last_h.insert(last_h.begin(), state.h.slice(next, rows - next));
    if (!state.c.empty()) last_c.insert(last_c.begin(), state.c.slice(next, rows - next));
  }
  return {concatenate_rows(run, outputs),
          {concatenate_rows(run, last_h), last_c.empty() ? Tensor{} : concatenate_rows(run, last_c)}};
}

Recurrent::Result Recurrent::forward(Run& run, Tensor x, const TimeOrder& time) const {
  Result result;
  size_t next_cell = 0;
  for (int64_t layer = 0; layer < options_.layers; ++layer) {
    auto scope = run.scope(std::to_string(layer));
    if (layer > 0) x = dropout_add(run, {}, std::move(x), options_.dropout);
    auto [forward_out, last] = direction(run, cells_[next_cell++], x, time);
    if (options_.bidirectional) {
      auto reverse_scope = run.scope("reverse");
      auto [backward_out, backward_last] =
          direction(run, cells_[next_cell++], select_rows(run, x, time.reversed), time);
      const Tensor both[] = {forward_out, select_rows(run, backward_out, time.reversed)};
      forward_out = concatenate_columns(run, both);
      last = backward_last;
    }
    result.last.push_back(last);
    x = forward_out;
  }
  result.outputs = x;
  return result;
}

void Recurrent::visit(const WeightVisitor& visitor) {
  for (RecurrentCell& cell : cells_) cell.visit(visitor);
}

}  // namespace limpid
