#include "inspect/tap_rows.h"

#include <algorithm>

#include "base/error.h"
#include "inspect/pass.h"
#include "inspect/pass_memory.h"
#include "layers/recurrent.h"

namespace limpid {
namespace {

std::vector<RowPlace> end_to_end(const Sequences& sequences) {
  std::vector<RowPlace> places;
  for (int64_t i = 0; i < sequences.count(); ++i)
    for (int64_t t = 0; t < sequences.length(i); ++t) places.push_back({i, t});
  return places;
}

// A recurrent layer that goes backwards takes a sequence's last token at step 0.
std::vector<RowPlace> of_step(const Tap& tap, const Batch& batch) {
  const bool backwards = tap.name.find(".reverse.") != std::string::npos;
  std::vector<RowPlace> places;
  for (int64_t i = 0; i < tap.layout.rows->count(); ++i) {
    const int64_t sequence = (*tap.layout.order)[i];
    const int64_t last = backwards ? batch.source.sequences.length(sequence) - 1 : 0;
    places.push_back({sequence, backwards ? last - tap.layout.step : tap.layout.step});
  }
  return places;
}

// Rows that a recurrent encoder reads: all first tokens, all second ones, …
std::vector<RowPlace> in_order_of_time(const Sequences& sequences) {
  const std::vector<RowPlace> tokens = end_to_end(sequences);
  std::vector<RowPlace> places;
  for (int32_t token : TimeOrder(sequences).token_of_row) places.push_back(tokens[token]);
  return places;
}

}  // namespace

std::vector<RowPlace> row_places(const Tap& tap, const Batch& batch) {
  if (tap.layout.order) return of_step(tap, batch);
  if (tap.layout.rows) return end_to_end(*tap.layout.rows);
  check(tap.value.rows() == batch.source.sequences.tokens(), "[tap] {} does not say whose its rows are", tap.name);
  return in_order_of_time(batch.source.sequences);
}

std::vector<double> TapValues::mean() const {
  check(!pairs, "[tap] pairs of queries and keys have no mean vector: take another tap");
  std::vector<double> sum(cols);
  for (int64_t i = 0; i < positions; ++i)
    for (int64_t j = 0; j < cols; ++j) sum[j] += static_cast<double>(row(i)[j]) / static_cast<double>(positions);
  return sum;
}

void gather_values(const Tap& tap, const Batch& batch, TapValues& into) {
  const std::vector<RowPlace> places = row_places(tap, batch);
  into.pairs = tap.layout.keys != nullptr;
  into.heads = into.pairs ? tap.layout.heads : 1;
  into.cols = into.pairs ? tap.layout.keys->length(0) : tap.value.cols();
  // Steps come one at a time: room for all positions is made as they come. Only one-headed pairs come by steps.
  int64_t positions = into.positions;
  for (const RowPlace& place : places) positions = std::max(positions, place.position + 1);
  check(positions == into.positions || into.positions == 0 || into.heads == 1, "[tap] {} fired more than once",
        tap.name);
  into.positions = positions;
  into.numbers.resize(static_cast<size_t>(into.heads * into.positions * into.cols));
  for (int64_t head = 0; head < into.heads; ++head) {
    const ConstMatrix values = into.pairs ? tap.pairs(0, head) : tap.value.values();
    for (size_t i = 0; i < places.size(); ++i)
      std::copy_n(values.row(static_cast<int64_t>(i)), into.cols, into.row(places[i].position, head));
  }
}

std::map<std::string, TapValues> tap_values(const Model& model, const Example& example,
                                            const std::vector<std::string>& names) {
  if (example.memory) return example.memory->values(model, example, names);
  std::map<std::string, TapValues> values;
  FunctionProbe probe;
  for (const std::string& name : names)
    probe.on(name, [&](const Tap& tap) { gather_values(tap, example.batch, values[tap.name]); });
  // The output layer is the dearest product of a small model: it is left out where nobody looks at it.
  if (std::find(names.begin(), names.end(), "logits") != names.end()) {
    forward_logits(model, example, &probe);
  } else {
    Pass pass(example, &probe);
    Run run({.probe = pass.probe()});
    model.forward(run, example.batch, example.choice);
  }
  return values;
}

}  // namespace limpid
