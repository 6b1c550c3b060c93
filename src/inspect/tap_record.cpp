#include "inspect/tap_record.h"

#include "base/error.h"
#include "inspect/pass_memory.h"

namespace limpid {
namespace {

TapRecord remembered(const Model& model, const Example& example, const std::vector<std::string>& patterns) {
  TapRecord record;
  for (const auto& [name, values] : tap_values(model, example, example.memory->matching(patterns)))
    if (!values.pairs) record.taps[name] = {.cols = values.cols, .numbers = {values.all().begin(), values.all().end()}};
  record.logits = forward_logits(model, example, nullptr);
  return record;
}

}  // namespace

std::vector<double> TapRecord::Rows::row(int64_t i) const {
  const real* begin = numbers.data() + i * cols;
  return {begin, begin + cols};
}

const TapRecord::Rows& TapRecord::at(const std::string& name) const {
  const auto found = taps.find(name);
  check(found != taps.end(), "[look] the tap {} did not fire: docs/taps.md says which models have it", name);
  return found->second;
}

TapRecord record_taps(const Model& model, const Example& example, const std::vector<std::string>& patterns) {
  check(example.batch.input.sequences.count() == 1, "[look] one text at a time");
  if (example.memory) return remembered(model, example, patterns);
  TapRecord record;
  FunctionProbe probe;
  for (const std::string& pattern : patterns)
    probe.on(pattern, [&](const Tap& tap) {
      if (tap.layout.keys) return;
      TapRecord::Rows& rows = record.taps[tap.name];
      const ConstMatrix values = tap.value.values();
      rows.cols = values.cols;
      for (int64_t i = 0; i < values.rows; ++i)
        rows.numbers.insert(rows.numbers.end(), values.row(i), values.row(i) + values.cols);
    });
  record.logits = forward_logits(model, example, &probe);
  return record;
}

}  // namespace limpid
