#include "training/update.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/random.h"
#include "base/seconds_since.h"
#include "cluster/same_on_all.h"
#include "kernels/reduce.h"
#include "training/example_batch.h"
#include "training/model_files.h"

namespace limpid {
namespace {

constexpr uint64_t kMaskPlace = 0x6d61736b;  // of random numbers

template <class Number>
void append(std::string& bytes, const std::vector<Number>& numbers) {
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
}

template <class Number>
std::vector<Number> take(std::string_view& bytes, size_t count) {
  std::vector<Number> numbers(count);
  if (count > 0) std::memcpy(numbers.data(), bytes.data(), count * sizeof(Number));
  bytes.remove_prefix(count * sizeof(Number));
  return numbers;
}

}  // namespace

void check_shards(const Recipe& recipe, const Courier& ranks) {
  if (recipe.batch.shards < ranks.size())
    fail_on_all(ranks,
                "[train] there are {} ranks and batch.shards is {}: set batch.shards to {} or more, which is another "
                "run, or start fewer ranks",
                ranks.size(), recipe.batch.shards, ranks.size());
}

Updater::Updater(const Recipe& recipe, const Model& model, Parameters& parameters, Courier& courier)
    : recipe_((check_shards(recipe, courier), recipe)),
      model_(model),
      parameters_(parameters),
      courier_(courier),
      task_(task_of(recipe)),
      gradients_(parameters),
      partition_(parameters.trainable_size(), courier.size()),
      sum_(gradients_, courier, partition_, recipe.batch.shards),
      optimizer_(courier.size() == 1 ? Optimizer(parameters, optimizer_options(recipe))
                                     : Optimizer(partition_.slices_of(courier.rank()), optimizer_options(recipe))) {
  freeze_parameters(recipe.optimizer.freeze, parameters_, gradients_);
  if (courier.size() > 1) moments_ = std::make_unique<SpreadMoments>(courier, partition_, optimizer_, gradients_);
}

// The shards of this rank. Tokens are counted over all.
std::vector<Updater::Shard> Updater::cut(std::vector<std::vector<TokenExample>> batches, int64_t step,
                                         int64_t& tokens) {
  const auto begun = std::chrono::steady_clock::now();
  const ShardRange own = sum_.own_shards();
  const int64_t shards = recipe_.batch.shards;
  std::vector<std::vector<std::vector<TokenExample>>> parts;
  const auto options = [&](int64_t batch, int64_t shard) {
    const auto place = static_cast<uint64_t>(batch * shards + shard);
    return ExampleBatchOptions{.task = task_,
                               .mask_share = recipe_.mask_share,
                               .key = random_key(recipe_.seed, static_cast<uint64_t>(step), kMaskPlace + place)};
  };
  for (int64_t i = 0; i < std::ssize(batches); ++i) {
    parts.push_back(cut_into_shards(std::move(batches[i]), shards));
    for (int64_t s = 0; s < shards; ++s)
      if (!parts[i][s].empty()) tokens += count_labels(parts[i][s], model_.config(), options(i, s));
  }
  timing_.cut = seconds_since(begun);
  std::vector<Shard> result(own.end - own.begin);
  for (int64_t i = 0; i < std::ssize(parts); ++i)
    for (int64_t s = own.begin; s < own.end; ++s) {
      if (parts[i][s].empty()) continue;
      result[s - own.begin].batches.push_back(make_batch(parts[i][s], model_.config(), options(i, s)));
      result[s - own.begin].numbers.push_back(i);
    }
  return result;
}

Update Updater::run(std::vector<std::vector<TokenExample>> batches, int64_t step, double rate) {
  const auto begun = std::chrono::steady_clock::now();
  const double carried = courier_.under_way();
  accumulate_ = std::ssize(batches);
  timing_ = {};
  Update result{.rate = rate};
  const std::vector<Shard> shards = cut(std::move(batches), step, result.tokens);
  const std::vector<real> before(statistics().begin(), statistics().end());
  std::vector<double> losses;
  std::vector<real> after;  // statistics of every own shard that has examples
  for (int64_t i = 0; i < std::ssize(shards); ++i) {
    std::copy(before.begin(), before.end(), statistics().begin());
    losses.push_back(compute(shards[i], step, sum_.own_shards().begin + i, static_cast<double>(result.tokens)));
    if (!shards[i].batches.empty()) after.insert(after.end(), statistics().begin(), statistics().end());
  }
  timing_.compute = seconds_since(begun) - timing_.cut;
  sum_.finish();
  const double summed = seconds_since(begun);
  timing_.waited = summed - timing_.cut - timing_.compute;
  timing_.under_way = courier_.under_way() - carried;
  timing_.ready = sum_.ready();
  timing_.last_shard = sum_.last_shard();
  result.loss = agree(losses, after, result.norm) / static_cast<double>(result.tokens);
  if (std::isfinite(result.loss)) learn(rate, result.norm);
  timing_.learned = seconds_since(begun) - summed;
  return result;
}

// The gradient of one shard, and its loss.
double Updater::compute(const Shard& shard, int64_t step, int64_t number, double tokens) {
  sum_.begin_shard();
  double loss = 0;
  for (size_t i = 0; i < shard.batches.size(); ++i) {
    Tape tape(arena_, &gradients_);
    if (i + 1 == shard.batches.size() && (recipe_.batch.shards > 1 || measured_)) sum_.watch(tape);
    const int64_t pass = (step * accumulate_ + shard.numbers[i]) * recipe_.batch.shards + number;
    Run run({.arena = arena_, .tape = &tape, .train = true, .seed = recipe_.seed, .step = static_cast<uint64_t>(pass)});
    const Loss sum = model_.loss(run, shard.batches[i],
                                 {.smoothing = static_cast<real>(recipe_.optimizer.label_smoothing), .tokens = tokens});
    tape.backward();
    loss += sum.sum();
    apply_statistics(parameters_, tape);
  }
  sum_.end_shard();
  return loss;
}

std::span<real> Updater::statistics() {
  return {parameters_.data() + parameters_.trainable_size(),
          static_cast<size_t>(parameters_.size() - parameters_.trainable_size())};
}

// Of the blocks of this rank's slices.
std::vector<double> Updater::squares() const {
  std::vector<double> result;
  for (const NumberRange& slice : optimizer_.owned())
    for (int64_t begin = slice.begin; begin < slice.end(); begin += partition_.block())
      result.push_back(
          kernels::sum_of_squares(gradients_.data() + begin, std::min(partition_.block(), slice.end() - begin)));
  return result;
}

// Tells all ranks the losses, squares and statistics of all. Returns the sum of the losses, and sets the norm of the
// gradient where somebody clips; the statistics become the mean of those that the shards came to.
double Updater::agree(const std::vector<double>& losses, const std::vector<real>& statistics, double& norm) {
  std::string mine;
  append(mine, losses);
  append(mine, optimizer_.clips() ? squares() : std::vector<double>());
  append(mine, statistics);
  double loss = 0;
  std::vector<double> blocks((partition_.numbers() + partition_.block() - 1) / partition_.block());
  std::vector<double> mean(this->statistics().size());
  double shards = 0;
  const std::vector<std::string> all = courier_.gather(mine);
  for (int rank = 0; rank < courier_.size(); ++rank) {
    std::string_view bytes = all[rank];
    const ShardRange own = shards_of_rank(recipe_.batch.shards, rank, courier_.size());
    for (const double one : take<double>(bytes, static_cast<size_t>(own.end - own.begin))) loss += one;
    if (optimizer_.clips())
      for (const NumberRange& slice : partition_.slices_of(rank))
        for (int64_t begin = slice.begin; begin < slice.end(); begin += partition_.block())
          blocks[begin / partition_.block()] = take<double>(bytes, 1)[0];
    for (; !mean.empty() && !bytes.empty(); ++shards) {
      const std::vector<real> values = take<real>(bytes, mean.size());
      for (size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(values[i]);
    }
  }
  double sum = 0;
  for (const double block : blocks) sum += block;
  norm = std::sqrt(sum);
  for (size_t i = 0; i < mean.size(); ++i) this->statistics()[i] = static_cast<real>(mean[i] / shards);
  return loss;
}

void Updater::learn(double rate, double norm) {
  if (courier_.size() == 1) return optimizer_.step(parameters_, gradients_, rate, norm);
  // All buckets are gathered, from the first to the last, each as soon as this rank's slice of it is there.
  int64_t next = 0;
  const auto gather_before = [&](int64_t end) {
    for (; next < partition_.buckets() && partition_.bucket(next).begin < end; ++next)
      courier_.post(
          [this, bucket = next](Communicator& communicator) {
            return communicator.start_gather(parameters_.data() + partition_.bucket(bucket).begin,
                                             partition_.blocks(bucket));
          },
          [] {});
  };
  optimizer_.step(parameters_, gradients_, rate, norm, [&](NumberRange slice) { gather_before(slice.end()); });
  gather_before(partition_.numbers());
  const auto waiting = std::chrono::steady_clock::now();
  courier_.finish();
  timing_.gathered = seconds_since(waiting);
}

}  // namespace limpid
