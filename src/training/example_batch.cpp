#include "training/example_batch.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"

namespace limpid {
namespace {

using Rows = std::vector<std::vector<int32_t>>;

bool is_special(int32_t id, const Config& config) {
  return id == config.bos_token || id == config.eos_token || id == config.pad_token;
}

struct MaskedRows {
  Rows tokens, labels;
  int64_t guessed = 0;
};

MaskedRows mask(Rows rows, const Config& config, const ExampleBatchOptions& options) {
  check(config.mask_token.has_value(), "[data] the vocabulary has no mask token");
  Random random(options.key);
  Rows labels;
  int64_t guessed = 0;
  for (auto& row : rows) {
    labels.emplace_back(row.size(), -1);
    for (size_t i = 0; i < row.size(); ++i) {
      const double chosen = random.uniform(), what = random.uniform();
      const auto other = static_cast<int32_t>(random.below(config.vocab));
      if (is_special(row[i], config) || chosen >= options.mask_share) continue;
      labels.back()[i] = row[i];
      ++guessed;
      if (what < 0.8)
        row[i] = static_cast<int32_t>(*config.mask_token);
      else if (what < 0.9)
        row[i] = other;
    }
  }
  if (guessed == 0) {  // a loss needs at least one token
    labels[0][0] = rows[0][0];
    rows[0][0] = static_cast<int32_t>(*config.mask_token);
    guessed = 1;
  }
  return {std::move(rows), std::move(labels), guessed};
}

}  // namespace

Batch make_batch(const std::vector<TokenExample>& examples, const Config& config, const ExampleBatchOptions& options) {
  Rows first, second;
  for (const TokenExample& example : examples) {
    first.push_back(example.first);
    second.push_back(example.second);
  }
  switch (options.task) {
    case Task::translation: return Batch::pairs(first, second, static_cast<int32_t>(*config.decoder_start_token));
    case Task::language_model: return Batch::next_tokens(first);
    case Task::masked: {
      const MaskedRows masked = mask(std::move(first), config, options);
      return Batch::masked(masked.tokens, masked.labels);
    }
    case Task::classification: break;
  }
  for (size_t i = 0; i < first.size(); ++i) {
    const int32_t label = second[i].at(0);
    second[i].assign(first[i].size(), -1);
    second[i][0] = label;
  }
  return Batch::masked(first, second);
}

int64_t count_labels(const std::vector<TokenExample>& examples, const Config& config,
                     const ExampleBatchOptions& options) {
  if (options.task == Task::masked) {
    Rows rows;
    for (const TokenExample& example : examples) rows.push_back(example.first);
    return mask(std::move(rows), config, options).guessed;
  }
  int64_t labels = 0;
  for (const TokenExample& example : examples)
    labels += options.task == Task::translation      ? std::ssize(example.second)
              : options.task == Task::language_model ? std::ssize(example.first) - 1
                                                     : 1;
  return labels;
}

std::vector<std::vector<TokenExample>> cut_into_shards(std::vector<TokenExample> examples, int64_t shards) {
  std::vector<std::vector<TokenExample>> parts(shards);
  const auto tokens = [](const TokenExample& example) {
    return std::ssize(example.first) + std::ssize(example.second);
  };
  int64_t total = 0, before = 0;
  for (const TokenExample& example : examples) total += tokens(example);
  for (TokenExample& example : examples) {
    // The part that its middle falls into.
    const int64_t count = tokens(example);
    const int64_t part = total > 0 ? (2 * before + count) * shards / (2 * total) : 0;
    before += count;
    parts[std::min(part, shards - 1)].push_back(std::move(example));
  }
  return parts;
}

BatchesOptions batches_options(const Recipe& recipe) {
  return {.tokens = recipe.batch.tokens,
          .sequences = recipe.batch.sequences,
          .window = recipe.data.unit == "stream" ? recipe.batch.window : 0,
          .by_length = recipe.batch.by_length,
          .seed = recipe.seed};
}

}  // namespace limpid
