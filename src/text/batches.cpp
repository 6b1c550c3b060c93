#include "text/batches.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/permutation.h"
#include "base/random.h"

namespace limpid {
namespace {

enum Place : uint64_t { kExamples, kBatches, kShift };  // what random numbers are drawn for

// Where each batch begins: as many entries as fit the limits.
std::vector<int64_t> cut(const std::vector<ExampleEntry>& entries, const BatchesOptions& options) {
  std::vector<int64_t> begin{0};
  int64_t first = 0, second = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(entries.size()); ++i) {
    first += entries[i].first;
    second += entries[i].second;
    const bool too_many_tokens = options.tokens > 0 && std::max(first, second) > options.tokens;
    const bool too_many_sequences = options.sequences > 0 && i - begin.back() == options.sequences;
    if ((!too_many_tokens && !too_many_sequences) || i == begin.back()) continue;
    begin.push_back(i);
    first = entries[i].first;
    second = entries[i].second;
  }
  begin.push_back(static_cast<int64_t>(entries.size()));
  return begin;
}

std::vector<int32_t> shuffled(int64_t count, uint64_t key) {
  std::vector<int32_t> order(count);
  const Permutation permutation(count, key);
  for (int64_t i = 0; i < count; ++i) order[i] = static_cast<int32_t>(permutation(i));
  return order;
}

}  // namespace

Batches::Batches(const TokenStore& store, const BatchesOptions& options) : store_(store), options_(options) {
  // A window is shifted by up to its own length from epoch to epoch, so one is lost where there are several.
  const int64_t windows = options.window > 0 ? (store.tokens() - 1) / options.window : 0;
  examples_ = options.window > 0 ? (options.shuffle ? std::max<int64_t>(windows - 1, 1) : windows) : store.size();
  check(examples_ > 0 && (options.window == 0 || windows > 0),
        "[data] {} ids are not enough for a single example: a longer text or a shorter window is needed",
        store.tokens());
  pools_ = (examples_ + options.pool - 1) / options.pool;
  pool_ = make_pool(0, 0);
}

ExampleEntry Batches::window_entry(int64_t epoch, int64_t window) const {
  const int64_t spare = store_.tokens() - 1 - examples_ * options_.window;  // ids that fall outside all windows
  const uint64_t shift =
      options_.shuffle && spare > 0
          ? random_key(options_.seed, static_cast<uint64_t>(epoch), kShift) % static_cast<uint64_t>(spare + 1)
          : 0;
  return {shift + static_cast<uint64_t>(window * options_.window), static_cast<uint32_t>(options_.window + 1), 0};
}

Batches::Pool Batches::make_pool(int64_t epoch, int64_t pool) const {
  const auto key = [&](Place place) { return random_key(options_.seed, static_cast<uint64_t>(epoch), place); };
  const Permutation permutation(examples_, key(kExamples));
  const int64_t begin = pool * options_.pool, end = std::min(begin + options_.pool, examples_);
  Pool result;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t example = options_.shuffle ? permutation(i) : i;
    result.entries.push_back(options_.window > 0 ? window_entry(epoch, example) : store_.entry(example));
  }
  // Equal lengths stay in their random order, so that batches differ from epoch to epoch.
  if (options_.shuffle && options_.by_length)
    std::stable_sort(result.entries.begin(), result.entries.end(), [](const ExampleEntry& a, const ExampleEntry& b) {
      return std::pair(a.longest(), a.first) < std::pair(b.longest(), b.first);
    });
  result.begin = cut(result.entries, options_);
  const auto count = static_cast<int64_t>(result.begin.size()) - 1;
  result.order.resize(count);
  std::iota(result.order.begin(), result.order.end(), 0);
  if (options_.shuffle) result.order = shuffled(count, mix(key(kBatches) ^ static_cast<uint64_t>(pool)));
  return result;
}

std::vector<TokenExample> Batches::next() {
  const int32_t batch = pool_.order[position_.batch];
  std::vector<TokenExample> examples;
  for (int64_t i = pool_.begin[batch]; i < pool_.begin[batch + 1]; ++i)
    examples.push_back(store_.example_of(pool_.entries[i]));
  step();
  return examples;
}

void Batches::step() {
  Position next = position_;
  if (++next.batch == static_cast<int64_t>(pool_.order.size())) {
    next.batch = 0;
    if (++next.pool == pools_) next = {next.epoch + 1, 0, 0};
  }
  seek(next);
}

void Batches::seek(const Position& position) {
  check(position.epoch >= 0 && position.pool >= 0 && position.pool < pools_ && position.batch >= 0,
        "[data] there is no pool {} of {}: is this another corpus than before?", position.pool, pools_);
  if (position.epoch != position_.epoch || position.pool != position_.pool)
    pool_ = make_pool(position.epoch, position.pool);
  check(position.batch < static_cast<int64_t>(pool_.order.size()),
        "[data] there is no batch {} in pool {}: is this another corpus than before?", position.batch, position.pool);
  position_ = position;
}

int64_t Batches::batches_per_epoch() const {
  const double share = static_cast<double>(examples_) / static_cast<double>(pool_.entries.size());
  return std::llround(static_cast<double>(pool_.order.size()) * share);
}

}  // namespace limpid
