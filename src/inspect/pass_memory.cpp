#include "inspect/pass_memory.h"

#include <algorithm>

#include "base/error.h"
#include "inspect/pass.h"

namespace limpid {
namespace {

constexpr std::string_view kLogits = "logits";  // the one tap of the output layer

}  // namespace

// Keeps the values of some taps.
class PassMemory::Keeper : public Probe {
 public:
  Keeper(std::set<std::string, std::less<>> names, const Batch& batch) : names_(std::move(names)), batch_(batch) {}

  bool wants(std::string_view name) const override { return names_.contains(name); }

  Tensor visit(const Tap& tap) override {
    TapValues& values = shown[tap.name];
    const ConstMatrix from = tap.value.values();
    if (tap.layout.order || !from.contiguous()) {
      gather_values(tap, batch_, values);
      return tap.value;
    }
    const bool pairs = tap.layout.keys != nullptr;
    const int64_t heads = pairs ? tap.layout.heads : 1, cols = pairs ? tap.layout.keys->length(0) : from.cols;
    values = {.pairs = pairs, .heads = heads, .positions = from.size() / (heads * cols), .cols = cols};
    values.kept = tap.value;
    return tap.value;
  }

  const std::set<std::string, std::less<>>& names() const { return names_; }

  std::map<std::string, TapValues, std::less<>> shown;

 private:
  const std::set<std::string, std::less<>> names_;
  const Batch& batch_;
};

// Somebody's names, from the question to the answer.
class PassMemory::Asking {
 public:
  Asking(PassMemory& memory, const std::vector<std::string>& names) : memory_(memory), names_(names) {
    const std::lock_guard lock(memory_.asking_);
    memory_.asked_.insert(names_.begin(), names_.end());
  }
  ~Asking() {
    const std::lock_guard lock(memory_.asking_);
    for (const std::string& name : names_) memory_.asked_.erase(memory_.asked_.find(name));
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  PassMemory& memory_;
  const std::vector<std::string>& names_;
};

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

std::set<std::string, std::less<>> PassMemory::unknown() {
  const std::lock_guard lock(asking_);
  std::set<std::string, std::less<>> names;
  for (const std::string& name : asked_)
    if (!known_.contains(name)) names.insert(name);
  return names;
}

int64_t PassMemory::bytes_of(const Session& session, const Example& example) {
  const int64_t source = example.batch.source.sequences.tokens(), input = example.positions();
  int64_t numbers = 0;
  for (const TapInfo& tap : session.taps())
    numbers += tap.row_count(source, input) * (tap.keys ? tap.heads * tap.key_count(source, input) : tap.cols);
  return numbers * static_cast<int64_t>(sizeof(real));
}

void PassMemory::know(const Model& model, const Example& example) {
  std::set<std::string, std::less<>> missing = unknown();
  const bool output = missing.erase(std::string(kLogits)) > 0;
  if (!missing.empty() || last_.empty()) {
    if (bytes_of(session_, example) <= most_bytes_)
      for (const TapInfo& tap : session_.taps())
        if (tap.name != kLogits && !known_.contains(tap.name)) missing.insert(tap.name);
    Keeper keeper(std::move(missing), example.batch);
    Pass pass(example, &keeper);
    Run run({.arena = arena_, .probe = pass.probe()});
    last_ = model.forward(run, example.batch, example.choice);
    keep(keeper);
  }
  if (!output) return;
  Keeper keeper({std::string(kLogits)}, example.batch);
  if (model.config().has_output()) {
    Pass pass(example, &keeper);
    Run run({.arena = arena_, .probe = pass.probe()});
    model.output().logits(run, last_, example.choice.sequences(example.batch.input.sequences));
  }
  keep(keeper);
}

void PassMemory::keep(Keeper& keeper) {
  known_.insert(keeper.names().begin(), keeper.names().end());
  for (auto& [name, values] : keeper.shown) {
    Kept& kept = kept_[name] = {.values = std::move(values), .used = ++clock_};
    bytes_ += kept.bytes();
  }
}

void PassMemory::trim() {
  const std::lock_guard lock(asking_);
  while (bytes_ > most_bytes_) {
    auto oldest = kept_.end();
    for (auto one = kept_.begin(); one != kept_.end(); ++one)
      if (!asked_.contains(one->first) && (oldest == kept_.end() || one->second.used < oldest->second.used))
        oldest = one;
    if (oldest == kept_.end()) return;
    bytes_ -= oldest->second.bytes();
    known_.erase(oldest->first);
    kept_.erase(oldest);
  }
}

std::map<std::string, TapValues> PassMemory::values(const Model& model, const Example& example,
                                                    const std::vector<std::string>& names) {
  std::map<std::string, TapValues> result;
  {
    const Asking asking(*this, names);
    const std::lock_guard lock(mutex_);
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return !known_.contains(name); }))
      know(model, example);
    for (const std::string& name : names) {
      const auto kept = kept_.find(name);
      if (kept == kept_.end()) continue;
      kept->second.used = ++clock_;
      result.emplace(name, kept->second.values);
    }
  }
  const std::lock_guard lock(mutex_);
  trim();
  return result;
}

Tensor PassMemory::logits(const Model& model, const Example& example) {
  const auto values = this->values(model, example, {std::string(kLogits)});
  check(values.size() == 1 && !values.begin()->second.kept.empty(), "[look] this model has no logits");
  return values.begin()->second.kept;
}

size_t PassMemory::asking() {
  const std::lock_guard lock(asking_);
  return asked_.size();
}

bool PassMemory::forget() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  known_.clear();
  kept_.clear();
  last_ = {};
  bytes_ = 0;
  return true;
}

}  // namespace limpid
