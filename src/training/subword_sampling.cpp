#include "training/subword_sampling.h"

#include "base/parallel.h"

namespace limpid {
namespace {

constexpr uint64_t kSegmentations = 0x7365676d;  // apart from the random numbers of dropout and masks

}  // namespace

SubwordSampling::SubwordSampling(const Recipe& recipe, const Tokenizers& tokenizers)
    : seed_(recipe.seed), max_length_(recipe.data.max_length) {
  if (recipe.tokenizer.sampling == 0) return;
  source_ = std::make_shared<PieceSampler>(tokenizers.source, recipe.tokenizer.sampling);
  if (task_of(recipe) != Task::translation) return;
  target_ = tokenizers.target == tokenizers.source
                ? source_
                : std::make_shared<PieceSampler>(tokenizers.target, recipe.tokenizer.sampling);
}

std::vector<TokenExample> SubwordSampling::drawn(std::vector<TokenExample> examples, int64_t number) const {
  if (!source_) return examples;
  const auto batch = static_cast<uint64_t>(number);
  const auto draw = [&](const PieceSampler& sampler, std::vector<int32_t>& ids, uint64_t place) {
    Random random(random_key(seed_ ^ kSegmentations, batch, place));
    std::vector<int32_t> other = sampler.sample(ids, random);
    if (static_cast<int64_t>(other.size()) <= max_length_) ids = std::move(other);
  };
  parallel_for(std::ssize(examples), [&](int64_t i) {
    TokenExample& example = examples[static_cast<size_t>(i)];
    draw(*source_, example.first, 2 * static_cast<uint64_t>(i));
    if (target_) draw(*target_, example.second, 2 * static_cast<uint64_t>(i) + 1);
  });
  return examples;
}

}  // namespace limpid
