#include "autograd/parameters.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/pages.h"
#include "base/parallel.h"
#include "base/random.h"
#include "kernels/reduce.h"
#include "kernels/rows.h"

namespace limpid {
namespace {

// Numbers of one cache line: a weight begins on a new one unless it is small enough to continue its neighbour's rows.
constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(real));

uint64_t hash_of(const std::string& name) {
  uint64_t hash = 0;
  for (unsigned char c : name) hash = mix(hash ^ c);
  return hash;
}

void draw(const Weight& weight, uint64_t seed, real* numbers) {
  Random random(random_key(seed, 0, hash_of(weight.name)));
  const double value = weight.initial.value;
  for (int64_t i = 0; i < weight.size(); ++i) {
    switch (weight.initial.kind) {
      case Initial::Kind::constant: numbers[i] = static_cast<real>(value); break;
      case Initial::Kind::normal: numbers[i] = static_cast<real>(value * random.normal()); break;
      case Initial::Kind::uniform: numbers[i] = static_cast<real>(value * (2 * random.uniform() - 1)); break;
    }
  }
}

}  // namespace

std::shared_ptr<real> make_flat_buffer(int64_t count) {
  const int64_t bytes = count * static_cast<int64_t>(sizeof(real));
  const auto pages = allocate_pages(bytes);
  if (!pages)
    fail(ErrorKind::out_of_memory, "[parameters] no memory for {} MB: take a smaller model or close other programs",
         bytes >> 20);
  return {pages, reinterpret_cast<real*>(pages.get())};
}

Parameters::Parameters(const VisitWeights& visit_weights) {
  auto place = [&](Weight& weight) {
    if (weight.size() % kLine != 0 || size_ % kLine != 0) size_ = (size_ + kLine - 1) / kLine * kLine;
    weight.offset = size_;
    size_ += weight.size();
  };
  visit_weights([&](Weight& weight) {
    if (weight.trainable) place(weight);
  });
  trainable_size_ = size_;
  visit_weights([&](Weight& weight) {
    if (!weight.trainable) place(weight);
  });
  data_ = make_flat_buffer(size_);
  visit_weights([&](Weight& weight) {
    const int64_t offset = weight.offset;
    weight.point_to(kRealType, data_.get() + offset);
    weight.offset = offset;
    weight.index = static_cast<int64_t>(weights_.size());
    weights_.push_back(weight);
  });
}

void Parameters::initialize(uint64_t seed) {
  parallel_for(static_cast<int64_t>(weights_.size()), [&](int64_t i) { draw(weights_[i], seed, data(weights_[i])); });
}

Gradients::Gradients(const Parameters& parameters)
    : data_(make_flat_buffer(parameters.trainable_size())),
      weights_(parameters.weights()),
      states_(weights_.size(), State::untouched),
      frozen_(weights_.size(), 0),
      size_(parameters.trainable_size()) {
  for (const Weight& weight : weights_) frozen_[weight.index] = !weight.trainable;
}

void Gradients::clear() { std::fill(states_.begin(), states_.end(), State::untouched); }

void Gradients::begin(const Weight& weight) {
  if (states_[weight.index] == State::complete)
    fail(ErrorKind::internal, "[gradients] {} is added to after its gradient was complete", weight.name);
  states_[weight.index] = State::started;
}

real* Gradients::open(std::span<const Weight* const> weights, bool& accumulate) {
  accumulate = std::any_of(weights.begin(), weights.end(),
                           [&](const Weight* w) { return states_[w->index] != State::untouched; });
  for (const Weight* weight : weights) {
    if (accumulate && states_[weight->index] == State::untouched)
      kernels::fill_zero({data_.get() + weight->offset, 1, weight->size()});
    begin(*weight);
  }
  return data_.get() + weights.front()->offset;
}

real* Gradients::open_to_add(const Weight& weight) {
  if (states_[weight.index] == State::untouched) kernels::fill_zero({data_.get() + weight.offset, 1, weight.size()});
  begin(weight);
  return data_.get() + weight.offset;
}

void Gradients::finish() {
  for (const Weight& weight : weights_)
    if (weight.trainable && states_[weight.index] == State::untouched) open_to_add(weight);
}

void Gradients::finish(const Weight& weight) {
  if (states_[weight.index] == State::untouched) open_to_add(weight);
  states_[weight.index] = State::complete;
}

std::shared_ptr<real> Gradients::exchange_buffer(std::shared_ptr<real> other) {
  return std::exchange(data_, std::move(other));
}

ConstMatrix Gradients::of(const Weight& weight) const {
  check(states_[weight.index] != State::untouched, "[gradients] nothing has been written for {}", weight.name);
  return {data_.get() + weight.offset, 1, weight.size()};
}

double Gradients::norm() {
  finish();
  return std::sqrt(kernels::sum_of_squares(data_.get(), size_));
}

bool Gradients::frozen(const Weight& weight) const { return weight.index < 0 || frozen_[weight.index]; }

void Gradients::freeze(const std::function<bool(const Weight&)>& which) {
  for (const Weight& weight : weights_)
    if (which(weight)) frozen_[weight.index] = 1;
}

std::vector<Gradients::Stretch> Gradients::learned(const std::function<bool(const Weight&)>& property) const {
  std::vector<Stretch> stretches;
  bool open = false;  // the last stretch goes on to the next weight, over the gap between them
  for (const Weight& weight : weights_) {
    if (!weight.trainable) continue;
    if (open) stretches.back().count = weight.offset - stretches.back().begin;
    open = open && !frozen_[weight.index] && stretches.back().property == property(weight);
    if (open || frozen_[weight.index]) continue;
    stretches.push_back({weight.offset, 0, property(weight)});
    open = true;
  }
  if (open) stretches.back().count = size_ - stretches.back().begin;
  return stretches;
}

}  // namespace limpid
