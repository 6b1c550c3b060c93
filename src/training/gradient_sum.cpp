#include "training/gradient_sum.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/parallel.h"

namespace limpid {
namespace {

void add_numbers(const real* from, real* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace

GradientSum::GradientSum(Gradients& gradients, Courier& courier, const Partition& partition, int64_t shards)
    : gradients_(gradients),
      courier_(courier),
      partition_(partition),
      tree_(shards),
      own_(shards_of_rank(shards, courier.rank(), courier.size())),
      next_(own_.begin),
      members_(partition.buckets()) {
  for (int rank = 0; rank < courier.size(); ++rank) {
    const std::vector<ShardRange> branches = tree_.branches(shards_of_rank(shards, rank, courier.size()));
    rounds_ = std::max(rounds_, branches.size());
    for (size_t number = 0; number < branches.size(); ++number) all_.push_back({branches[number], rank, number});
  }
  for (const Weight& weight : gradients.weights())
    if (weight.trainable && weight.size() > 0)
      for (int64_t b = 0; b < partition.buckets(); ++b)
        if (const NumberRange range = partition.bucket(b);
            weight.offset < range.end() && range.begin < weight.offset + weight.size())
          members_[b].push_back(&weight);
}

void GradientSum::begin_shard() {
  gradients_.clear();
  if (next_ == own_.begin) branches_.clear();
  if (!is_last()) return;
  for (const Weight& weight : gradients_.weights())  // what is not learned is complete from the beginning
    if (weight.trainable && gradients_.frozen(weight)) gradients_.finish(weight);
  begun_ = std::chrono::steady_clock::now();
  complete_.assign(members_.size(), {});
  unsent_ = partition_.buckets();
  missing_.assign(members_.size(), 0);
  for (size_t b = 0; b < members_.size(); ++b)
    missing_[b] = std::count_if(members_[b].begin(), members_[b].end(),
                                [&](const Weight* weight) { return !gradients_.frozen(*weight); });
}

void GradientSum::watch(Tape& tape) {
  if (!is_last()) return;
  tape.when_complete([this](const Weight& weight) {
    gradients_.finish(weight);
    const auto done = [&](const Weight* member) { return member->index == weight.index; };
    for (size_t b = 0; b < members_.size(); ++b)
      if (std::any_of(members_[b].begin(), members_[b].end(), done)) --missing_[b];
    send_ready();
  });
}

void GradientSum::end_shard() {
  gradients_.finish();
  if (is_last()) {
    ended_ = std::chrono::steady_clock::now();
    std::fill(missing_.begin(), missing_.end(), 0);
    send_ready();
    return;
  }
  std::shared_ptr<real> other;
  if (spare_.empty()) {
    other = make_flat_buffer(partition_.numbers());
  } else {
    other = std::move(spare_.back());
    spare_.pop_back();
  }
  add_branch({{next_, next_ + 1}, gradients_.exchange_buffer(std::move(other))});
  ++next_;
}

// Adds a whole branch to the one before it as long as the tree does.
void GradientSum::add_branch(Branch branch) {
  while (!branches_.empty() && tree_.adds(branches_.back().shards.begin, branch.shards.begin, branch.shards.end)) {
    Branch before = std::move(branches_.back());
    branches_.pop_back();
    parallel_ranges(partition_.numbers(), partition_.block(), [&](int64_t begin, int64_t end) {
      add_numbers(branch.sum.get() + begin, before.sum.get() + begin, end - begin);
    });
    spare_.push_back(std::move(branch.sum));
    branch = {{before.shards.begin, branch.shards.end}, std::move(before.sum)};
  }
  branches_.push_back(std::move(branch));
}

void GradientSum::send_ready() {
  for (; unsent_ > 0 && missing_[unsent_ - 1] == 0; --unsent_) {
    complete_[unsent_ - 1] = std::chrono::steady_clock::now();
    merge_bucket(partition_.bucket(unsent_ - 1));
    if (courier_.size() > 1) send(unsent_ - 1);
  }
}

// What add_branch() does with whole buffers, for a part of the last shard's.
void GradientSum::merge_bucket(NumberRange range) {
  ShardRange shards{next_, next_ + 1};
  const real* from = gradients_.data();
  for (size_t i = branches_.size(); i > 0 && tree_.adds(branches_[i - 1].shards.begin, shards.begin, shards.end); --i) {
    real* const to = branches_[i - 1].sum.get();
    parallel_ranges(range.count, partition_.block(), [&](int64_t begin, int64_t end) {
      add_numbers(from + range.begin + begin, to + range.begin + begin, end - begin);
    });
    from = to;
    shards.begin = branches_[i - 1].shards.begin;
  }
  if (courier_.size() == 1 && from != gradients_.data())  // alone: the tree's root
    std::copy_n(from + range.begin, range.count, gradients_.data() + range.begin);
}

// The sum of a branch of this rank. The last shard's is in the gradients unless it was added to the branch before it.
real* GradientSum::own_branch(size_t number) const {
  return number < branches_.size() ? branches_[number].sum.get() : gradients_.data();
}

void GradientSum::send(int64_t bucket) {
  const NumberRange range = partition_.bucket(bucket), slice = partition_.slice(bucket, courier_.rank());
  const auto own_count = static_cast<size_t>(
      std::count_if(all_.begin(), all_.end(), [&](const RemoteBranch& b) { return b.rank == courier_.rank(); }));
  // One buffer for each round of messages: a round carries one branch of every rank that has so many.
  const auto received = std::make_shared<std::vector<std::shared_ptr<real>>>(rounds_);
  for (size_t round = 0; round < rounds_; ++round) {
    const real* const from = own_branch(round) + range.begin;
    RankBlocks sent = partition_.blocks(bucket),
               got{std::vector<int>(courier_.size()), std::vector<int>(courier_.size())};
    if (round >= own_count) std::fill(sent.counts.begin(), sent.counts.end(), 0);
    sent.counts[courier_.rank()] = 0;
    int64_t total = 0;
    for (const RemoteBranch& branch : all_)
      if (branch.number == round && branch.rank != courier_.rank()) {
        got.counts[branch.rank] = static_cast<int>(slice.count);
        got.offsets[branch.rank] = static_cast<int>(total);
        total += slice.count;
      }
    const bool last = round + 1 == rounds_;
    courier_.post(
        [=](Communicator& communicator) {
          auto& buffer = (*received)[round];
          buffer = std::shared_ptr<real>(new real[static_cast<size_t>(total)], std::default_delete<real[]>());
          return communicator.start_exchange(from, sent, buffer.get(), got);
        },
        [=, this] {
          if (last) sum_up(slice, *received);
        });
  }
}

void GradientSum::sum_up(NumberRange slice, const std::vector<std::shared_ptr<real>>& received) {
  if (slice.count == 0) return;
  struct Sum {
    ShardRange shards;
    real* numbers;
  };
  std::vector<Sum> sums;
  std::vector<int64_t> taken(received.size(), 0);
  for (const RemoteBranch& branch : all_) {
    Sum sum{branch.shards, nullptr};
    if (branch.rank != courier_.rank())
      sum.numbers = received[branch.number].get() + slice.count * taken[branch.number]++;
    else
      sum.numbers = own_branch(branch.number) + slice.begin;
    while (!sums.empty() && tree_.adds(sums.back().shards.begin, sum.shards.begin, sum.shards.end)) {
      add_numbers(sum.numbers, sums.back().numbers, slice.count);
      sum = {{sums.back().shards.begin, sum.shards.end}, sums.back().numbers};
      sums.pop_back();
    }
    sums.push_back(sum);
  }
  real* const result = gradients_.data() + slice.begin;
  if (sums.front().numbers != result) std::copy_n(sums.front().numbers, slice.count, result);
}

std::vector<double> GradientSum::ready() const {
  std::vector<double> before;
  for (const auto time : complete_)
    before.push_back(std::max(0.0, std::chrono::duration<double>(ended_ - time).count()));
  return before;
}

void GradientSum::finish() {
  courier_.finish();
  for (Branch& branch : branches_) spare_.push_back(std::move(branch.sum));
  branches_.clear();
  next_ = own_.begin;
}

}  // namespace limpid
