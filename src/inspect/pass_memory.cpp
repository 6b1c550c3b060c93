#include "inspect/pass_memory.h"

#include <algorithm>

#include "base/error.h"
#include "inspect/pass.h"

namespace limpid {

// Keeps the values of some taps.
class PassMemory::Keeper : public Probe {
 public:
  Keeper(const std::vector<std::string>& names, const Batch& batch)
      : names_(names.begin(), names.end()), batch_(batch) {}

  bool wants(std::string_view name) const override { return names_.contains(name); }

  Tensor visit(const Tap& tap) override {
    Kept& kept = shown[tap.name];
    if (tap.layout.order) {
      gather_values(tap, batch_, kept.steps);
    } else {
      kept = {.value = tap.value,
              .pairs = tap.layout.keys != nullptr,
              .heads = tap.layout.heads,
              .keys = tap.layout.keys ? tap.layout.keys->length(0) : 0,
              .steps = {}};
    }
    return tap.value;
  }

  Shown shown;

 private:
  const std::set<std::string, std::less<>> names_;
  const Batch& batch_;
};

int64_t PassMemory::Kept::bytes() const {
  const int64_t numbers = value.empty() ? std::ssize(steps.numbers) : value.values().size();
  return numbers * static_cast<int64_t>(sizeof(real));
}

TapValues PassMemory::Kept::values() const {
  if (value.empty()) return steps;
  const ConstMatrix from = value.values();
  TapValues result{.pairs = pairs, .heads = pairs ? heads : 1, .cols = pairs ? keys : from.cols};
  result.positions = pairs ? from.size() / (heads * keys) : from.rows;
  result.numbers.reserve(static_cast<size_t>(from.size()));
  for (int64_t i = 0; i < from.rows; ++i)
    result.numbers.insert(result.numbers.end(), from.row(i), from.row(i) + from.cols);
  return result;
}

PassMemory::PassMemory(const Session& session, int64_t most_bytes, Arena arena)
    : session_(session), most_bytes_(most_bytes), arena_(std::move(arena)) {}

std::vector<std::string> PassMemory::matching(const std::vector<std::string>& patterns) const {
  std::vector<std::string> names;
  for (const TapInfo& tap : session_.taps())
    if (std::any_of(patterns.begin(), patterns.end(),
                    [&](const std::string& pattern) { return matches_pattern(pattern, tap.name); }))
      names.push_back(tap.name);
  return names;
}

void PassMemory::know(const Model& model, const Example& example, const std::vector<std::string>& names,
                      Shown& besides) {
  std::vector<std::string> missing;
  for (const std::string& name : names)
    if (!known_.contains(name)) missing.push_back(name);
  if (missing.empty()) return;
  const int64_t source = example.batch.source.sequences.tokens(), input = example.positions();
  int64_t all = 0;
  for (const TapInfo& tap : session_.taps())
    all += tap.row_count(source, input) * (tap.keys ? tap.heads * tap.key_count(source, input) : tap.cols) *
           static_cast<int64_t>(sizeof(real));
  if (all <= most_bytes_)
    for (const TapInfo& tap : session_.taps())
      if (!known_.contains(tap.name) && std::find(missing.begin(), missing.end(), tap.name) == missing.end())
        missing.push_back(tap.name);
  Keeper keeper(missing, example.batch);
  Pass pass(example, &keeper);
  Run run({.arena = arena_, .probe = pass.probe()});
  // The output layer is left out where nobody looks at it.
  if (model.config().has_output() && keeper.wants("logits"))
    model.logits(run, example.batch, example.choice);
  else
    model.forward(run, example.batch, example.choice);
  for (const std::string& name : missing) {
    const auto shown = keeper.shown.find(name);
    const int64_t bytes = shown == keeper.shown.end() ? 0 : shown->second.bytes();
    if (bytes_ + bytes > most_bytes_) continue;
    bytes_ += bytes;
    known_.insert(name);
    if (shown != keeper.shown.end()) kept_.insert(keeper.shown.extract(shown));
  }
  besides = std::move(keeper.shown);
}

std::map<std::string, TapValues> PassMemory::values(const Model& model, const Example& example,
                                                    const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  Shown besides;
  know(model, example, names, besides);
  std::map<std::string, TapValues> result;
  for (const std::string& name : names) {
    if (const auto kept = kept_.find(name); kept != kept_.end())
      result.emplace(name, kept->second.values());
    else if (const auto shown = besides.find(name); shown != besides.end())
      result.emplace(name, shown->second.values());
  }
  return result;
}

Tensor PassMemory::logits(const Model& model, const Example& example) {
  const std::lock_guard lock(mutex_);
  Shown besides;
  know(model, example, {"logits"}, besides);
  const auto kept = kept_.find("logits");
  return kept != kept_.end() ? kept->second.value : besides.at("logits").value;
}

}  // namespace limpid
