#include "inference/score.h"

#include <algorithm>

#include "base/parallel.h"
#include "inference/decoder_state.h"
#include "inference/sampling.h"

namespace limpid {
namespace {

// A part of a text that is read in one piece. Its last `scored` labels count.
struct Window {
  size_t text;
  std::vector<int32_t> source, input, labels;
  int64_t scored;
};

ScoredToken score_token(std::span<const real> logits, int32_t id, int64_t top) {
  const double log_sum = log_sum_of_exp(logits);
  const real score = logits[id];
  int64_t rank = 1;
  for (size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > score || (logits[i] == score && static_cast<int32_t>(i) < id)) ++rank;
  return {id, static_cast<double>(score) - log_sum, rank, likeliest(logits, top, log_sum)};
}

// Reads the windows side by side and adds what is scored to the texts.
void score_windows(const Model& model, std::span<const Window> windows, const TextScoreOptions& options,
                   std::vector<TextScore>& results) {
  std::vector<std::vector<int32_t>> sources, inputs;
  std::vector<int32_t> chosen;
  size_t token = 0;
  std::vector<std::pair<size_t, int32_t>> scored;  // text and token of each scored row
  for (const Window& window : windows) {
    sources.push_back(window.source);
    inputs.push_back(window.input);
    const size_t unscored = window.labels.size() - static_cast<size_t>(window.scored);
    for (size_t i = unscored; i < window.labels.size(); ++i) {
      chosen.push_back(static_cast<int32_t>(token + i));
      scored.emplace_back(window.text, window.labels[i]);
    }
    token += window.labels.size();
  }
  const Arena arena;
  Run run({.arena = arena});
  Batch batch;
  batch.source = Tokens::of(sources);
  batch.input = Tokens::of(inputs);
  const Tensor x = model.forward(run, batch, TokenChoice::of(chosen));
  const int64_t part = std::max<int64_t>(1, kMaxLogits / model.config().vocab);
  for (int64_t begin = 0; begin < x.rows(); begin += part) {
    const int64_t count = std::min(part, x.rows() - begin);
    const Tensor logits = model.output().logits(run, x.slice(begin, count), Sequences({count}));
    const ConstMatrix rows = logits.values();
    std::vector<ScoredToken> tokens(count);
    parallel_for(count, [&](int64_t i) {
      tokens[i] = score_token({rows.row(i), static_cast<size_t>(rows.cols)}, scored[begin + i].second, options.top);
    });
    for (int64_t i = 0; i < count; ++i) {
      TextScore& text = results[scored[begin + i].first];
      text.log_probability += tokens[i].log_probability;
      text.tokens.push_back(std::move(tokens[i]));
    }
  }
}

// In the order of texts, as many side by side as fit.
std::vector<TextScore> score_all(const Model& model, const std::vector<Window>& windows, size_t texts,
                                 const TextScoreOptions& options) {
  std::vector<TextScore> results(texts);
  size_t begin = 0;
  while (begin < windows.size()) {
    size_t end = begin;
    int64_t tokens = 0;
    do {
      tokens += static_cast<int64_t>(windows[end].input.size() + windows[end].source.size());
      ++end;
    } while (end < windows.size() &&
             tokens + static_cast<int64_t>(windows[end].input.size() + windows[end].source.size()) <=
                 options.max_batch_tokens);
    score_windows(model, std::span(windows).subspan(begin, end - begin), options, results);
    begin = end;
  }
  return results;
}

void check_ids(const Config& config, std::span<const int32_t> ids) {
  for (const int32_t id : ids)
    check(id >= 0 && id < config.vocab, "[score] the text has a token {} and the model only {}", id, config.vocab);
}

int64_t context_of(const Config& config, const TextScoreOptions& options) {
  const int64_t most = most_positions(config);
  const int64_t context = options.context > 0 ? options.context : context_length(config);
  check(context >= 2 && context <= most, "[score] a context of {} tokens: the model takes 2 to {}", context, most);
  return context;
}

}  // namespace

std::vector<TextScore> score_texts(const Model& model, std::span<const std::vector<int32_t>> texts,
                                   const TextScoreOptions& options) {
  const Config& config = model.config();
  check(config.continues_text(),
        "[score] a model of type \"{}\" is no language model: give it pairs of a source and a target if it translates",
        config.model_type);
  const int64_t context = context_of(config, options);
  std::vector<Window> windows;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto& text = texts[i];
    check_ids(config, text);
    const auto predicted = static_cast<int64_t>(text.size()) - 1;
    for (int64_t done = 0; done < predicted;) {
      const int64_t begin = done == 0 ? 0 : done - context / 2;
      const int64_t end = std::min(begin + context, predicted);
      windows.push_back({.text = i,
                         .source = {},
                         .input = {text.begin() + begin, text.begin() + end},
                         .labels = {text.begin() + begin + 1, text.begin() + end + 1},
                         .scored = end - done});
      done = end;
    }
  }
  return score_all(model, windows, texts.size(), options);
}

std::vector<TextScore> score_pairs(const Model& model, std::span<const std::vector<int32_t>> sources,
                                   std::span<const std::vector<int32_t>> targets, const TextScoreOptions& options) {
  const Config& config = model.config();
  check(config.has_source(), "[score] a model of type \"{}\" does not translate: give it single texts",
        config.model_type);
  check(sources.size() == targets.size(), "[score] {} sources for {} targets", sources.size(), targets.size());
  const int32_t start = start_token(config);
  const int64_t most = most_positions(config);
  std::vector<Window> windows;
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto& target = targets[i];
    check(!sources[i].empty() && !target.empty(), "[score] pair {} lacks a token: both sides end with the end token",
          i + 1);
    check(static_cast<int64_t>(std::max(sources[i].size(), target.size())) <= most,
          "[score] pair {} has {} and {} tokens and the model positions for {}: shorten it", i + 1, sources[i].size(),
          target.size(), most);
    check_ids(config, sources[i]);
    check_ids(config, target);
    std::vector<int32_t> input{start};
    input.insert(input.end(), target.begin(), target.end() - 1);
    windows.push_back({i, sources[i], std::move(input), target, static_cast<int64_t>(target.size())});
  }
  return score_all(model, windows, sources.size(), options);
}

}  // namespace limpid
