#include "inference/generate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "inference/beam_search.h"
#include "inference/engine.h"

namespace limpid {
namespace {

bool contains(std::span<const int32_t> ids, int32_t id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

void check_options(const Config& config, const GenerateOptions& options) {
  check(config.has_source(), "[translate] a model of type \"{}\" does not translate: take an encoder-decoder model",
        config.model_type);
  check(config.eos_token.has_value() || !options.rules.ends.empty(),
        "[translate] the config does not say which token ends a text: add \"eos_token_id\"");
  check(options.beam >= 1 && options.beam <= 1000, "[translate] a beam of {}: it is 1 to 1000", options.beam);
  check(options.n_best >= 1 && options.n_best <= options.beam,
        "[translate] {} hypotheses of a beam of {}: ask for 1 to {}, or widen the beam", options.n_best, options.beam,
        options.beam);
  check(options.max_tokens >= 0, "[translate] at most {} tokens: it is 0 (from the source) or more",
        options.max_tokens);
  check(std::isfinite(options.repetition_penalty) && options.repetition_penalty > 0,
        "[translate] a repetition penalty of {}: it is above 0; 1 is none", options.repetition_penalty);
}

void check_ids(const Config& config, std::span<const int32_t> ids, const char* what) {
  for (const int32_t id : ids)
    check(id >= 0 && id < config.vocab, "[translate] the {} has a token {} and the model only {}", what, id,
          config.vocab);
}

// Tokens that end a text, as the rules or the config say.
TokenRules with_ends(TokenRules rules, const Config& config) {
  if (rules.ends.empty() && config.eos_token) rules.ends = {static_cast<int32_t>(*config.eos_token)};
  return rules;
}

class Search : public GenerationTask {
 public:
  Search(const Config& config, std::vector<int32_t> source, std::vector<int32_t> prefix, const GenerateOptions& options,
         std::function<void(SearchResult)> done)
      : source_(std::move(source)),
        prefix_(std::move(prefix)),
        options_(options),
        rules_(with_ends(options.rules, config)),
        max_tokens_(std::min(std::max(longest_target(config, options, static_cast<int64_t>(source_.size())),
                                      static_cast<int64_t>(prefix_.size())),
                             most_positions(config) - 1)),
        penalizes_(options.repetition_penalty != 1),
        scores_(options.scores || options.beam > 1 || penalizes_),
        search_({.beam = options.beam,
                 .length_penalty = options.length_penalty,
                 .max_tokens = max_tokens_,
                 .ends = rules_.ends}),
        done_(std::move(done)) {
    top_.count = BeamSearch::candidates(options.beam);
    for (const auto& token : {config.pad_token, config.decoder_start_token})
      if (token && !contains(rules_.ends, static_cast<int32_t>(*token)))
        top_.never.push_back(static_cast<int32_t>(*token));
    rules_.forced_first.reset();  // it stands in the prefix
    rules_.forced_last.reset();   // a search ends there anyway
    found_.count = top_.count;
    resize();
  }

  const std::vector<int32_t>& text() const override { return source_; }
  Limits limits() const override { return {options_.beam, std::max<int64_t>(1, max_tokens_)}; }

  // While the prefix is written the text has one hypothesis and no choice.
  void on_logits(int64_t row, std::span<real> scores) override {
    if (forced_ < prefix_.size()) {
      forced_score_ = scores[prefix_[forced_]] - (scores_ ? log_sum(scores) : 0);
      return;
    }
    TopOptions top = top_;
    if (!scores_) top.log_sum = 0;
    const std::vector<int32_t>& ids = search_.ids(row);
    const std::vector<int32_t> forbidden = forbidden_next(rules_, {ids, static_cast<int64_t>(ids.size())});
    if (penalizes_ || forbidden.size() > kFewForbidden) {
      if (scores_) top.log_sum = log_sum(scores);
      if (penalizes_) penalize(ids, scores, *top.log_sum);
      forbid(forbidden, scores);
    } else {
      top.never.insert(top.never.end(), forbidden.begin(), forbidden.end());
    }
    const TopTokens best = top_tokens({scores.data(), 1, static_cast<int64_t>(scores.size())}, top);
    std::copy(best.best.begin(), best.best.end(), found_.best.begin() + row * found_.count);
  }

  void advance() override {
    if (forced_ < prefix_.size())
      search_.force(prefix_[forced_++], static_cast<double>(forced_score_));
    else
      search_.advance(found_, 0);
    resize();
  }

  std::vector<Row> rows() const override {
    std::vector<Row> rows;
    for (int64_t i = 0; i < search_.live(); ++i) rows.push_back({search_.parent(i), search_.last(i)});
    return rows;
  }

  void finish() override { hand_over(search_.best(options_.n_best), FinishReason::end_token); }
  void stop(FinishReason reason) override { hand_over(search_.so_far(options_.n_best), reason); }

 private:
  void hand_over(std::vector<Hypothesis> hypotheses, FinishReason reason) const {
    if (!scores_)
      for (Hypothesis& hypothesis : hypotheses)
        hypothesis.log_probability = hypothesis.score = std::numeric_limits<double>::quiet_NaN();
    done_({std::move(hypotheses), reason});
  }

  void resize() { found_.best.resize(search_.live() * found_.count); }

  void penalize(const std::vector<int32_t>& ids, std::span<real> scores, real log_sum) const {
    const auto penalty = static_cast<real>(options_.repetition_penalty);
    std::vector<int32_t> different = ids;
    std::sort(different.begin(), different.end());
    different.erase(std::unique(different.begin(), different.end()), different.end());
    for (const int32_t id : different) scores[id] = log_sum + penalty * (scores[id] - log_sum);
  }

  // So many cost nothing while the likeliest are looked for; more are better struck out beforehand.
  static constexpr size_t kFewForbidden = 32;

  std::vector<int32_t> source_, prefix_;
  GenerateOptions options_;
  TokenRules rules_;
  int64_t max_tokens_;
  bool penalizes_;
  bool scores_;  // they are made log-probabilities
  BeamSearch search_;
  std::function<void(SearchResult)> done_;
  TopOptions top_;
  TopTokens found_;    // of the live hypotheses
  size_t forced_ = 0;  // tokens of the prefix that are written
  real forced_score_ = 0;
};

void check_prefixes(const Config& config, const GenerateOptions& options, size_t sources) {
  const auto& prefixes = options.prefixes;
  check(prefixes.size() <= 1 || prefixes.size() == sources,
        "[translate] {} prefixes for {} texts: give none, one for all or one for each", prefixes.size(), sources);
  check_options(config, options);
}

}  // namespace

int64_t longest_target(const Config& config, const GenerateOptions& options, int64_t source_tokens) {
  const int64_t asked = options.max_tokens > 0 ? options.max_tokens : 2 * source_tokens + 50;
  return std::min(asked, most_positions(config) - 1);  // the start token takes the first position
}

std::unique_ptr<GenerationTask> make_search(const Config& config, std::vector<int32_t> source,
                                            std::vector<int32_t> prefix, const GenerateOptions& options,
                                            std::function<void(SearchResult)> done) {
  check_options(config, options);
  check(!source.empty(), "[translate] a source without tokens: it ends at least with the end token");
  const auto& first = options.rules.forced_first;
  if (first && (prefix.empty() || prefix[0] != *first)) prefix.insert(prefix.begin(), *first);
  check(static_cast<int64_t>(prefix.size()) < most_positions(config),
        "[translate] a prefix of {} tokens and positions for {}: shorten it", prefix.size(), most_positions(config));
  check(static_cast<int64_t>(source.size()) <= most_positions(config),
        "[translate] a source of {} tokens and positions for {}: shorten it", source.size(), most_positions(config));
  check_ids(config, source, "source");
  check_ids(config, prefix, "prefix");
  check_ids(config, options.rules.ends, "list of ends");
  return std::make_unique<Search>(config, std::move(source), std::move(prefix), options, std::move(done));
}

std::vector<std::vector<Hypothesis>> translate(const Model& model, std::span<const std::vector<int32_t>> sources,
                                               const GenerateOptions& options) {
  check_prefixes(model.config(), options, sources.size());
  std::vector<std::vector<Hypothesis>> results(sources.size());
  Engine engine(model, {.max_batch = options.max_batch, .memory = options.memory});
  // Texts of like length run side by side, the longest first: then none is left alone at the end.
  std::vector<size_t> order(sources.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sources[a].size() > sources[b].size(); });
  const auto& prefixes = options.prefixes;
  GenerateOptions each = options;
  each.prefixes.clear();
  for (const size_t i : order) {
    const std::vector<int32_t> none;
    const auto& prefix = prefixes.empty() ? none : prefixes[prefixes.size() == 1 ? 0 : i];
    engine.add(make_search(model.config(), sources[i], prefix, each,
                           [&results, i](SearchResult result) { results[i] = std::move(result.hypotheses); }));
  }
  while (engine.step()) {
  }
  return results;
}

}  // namespace limpid
