#include "autograd/run.h"

#include <algorithm>

#include "base/cancellation.h"
#include "base/random.h"

namespace limpid {

Run::Run(Options options) : options_(std::move(options)) {
  check_cancelled();
  check(!(options_.cache && options_.tape), "[run] a cache serves decoding, not training: use one or the other");
}

Tensor Run::make(int64_t rows, int64_t cols, bool needs_gradient) const {
  Tensor value(options_.arena, rows, cols);
  if (needs_gradient) value.track_gradient();
  return value;
}

bool Run::records(std::initializer_list<const Tensor*> inputs, std::initializer_list<const Weight*> weights) const {
  if (!options_.tape) return false;
  const bool of_weights = records(std::span(weights.begin(), weights.size()));
  return of_weights ||
         std::any_of(inputs.begin(), inputs.end(), [](const Tensor* input) { return input->needs_gradient(); });
}

bool Run::records(std::span<const Weight* const> weights) const {
  if (!options_.tape) return false;
  bool any = false;
  for (const Weight* weight : weights) {
    if (!weight || !options_.tape->wants(*weight)) continue;
    options_.tape->note_use(*weight);
    any = true;
  }
  return any;
}

Dropout Run::dropout(double rate) {
  const uint64_t place = place_++;
  if (!options_.train || rate <= 0) return {};
  return {static_cast<float>(rate), random_key(options_.seed, options_.step, place)};
}

Run::Scope Run::scope(std::string_view name) {
  if (!options_.probe || name.empty()) return {nullptr, 0};
  const size_t length = prefix_.size();
  prefix_.append(name).push_back('.');
  return {this, length};
}

Run::Scope::~Scope() {
  if (run_) run_->prefix_.resize(length_);
}

bool Run::watched(std::string_view name) const {
  return options_.probe && options_.probe->wants(prefix_ + std::string(name));
}

Tensor Run::show(std::string_view name, Tensor value, const TapLayout& layout) {
  std::string full = prefix_ + std::string(name);
  if (!options_.probe->wants(full)) return value;
  Tensor next = options_.probe->visit({std::move(full), value, layout});
  check(next.rows() == value.rows() && next.cols() == value.cols(),
        "[tap] {}{} was replaced by {}×{} numbers, it has {}×{}", prefix_, name, next.rows(), next.cols(), value.rows(),
        value.cols());
  return next;
}

}  // namespace limpid
