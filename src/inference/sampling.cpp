#include "inference/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "kernels/top_numbers.h"

namespace limpid {
namespace {

constexpr double kForbidden = -std::numeric_limits<double>::infinity();

struct Scored {
  int32_t id;
  double score;
};

bool likelier(const Scored& a, const Scored& b) { return a.score > b.score || (a.score == b.score && a.id < b.id); }

bool penalises(const SamplingOptions& options) {
  return options.repetition_penalty != 1 || options.frequency_penalty != 0 || options.presence_penalty != 0;
}

// Scores after bias and penalties.
std::vector<Scored> adjusted(std::span<const real> logits, std::span<const int32_t> history,
                             const SamplingOptions& options) {
  std::vector<Scored> scored(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) scored[i] = {static_cast<int32_t>(i), static_cast<double>(logits[i])};
  const auto known = [&](int32_t id) { return id >= 0 && static_cast<size_t>(id) < scored.size(); };
  for (const auto& [id, bias] : options.bias)
    if (known(id)) scored[id].score += bias;
  if (options.penalty_window > 0 && static_cast<int64_t>(history.size()) > options.penalty_window)
    history = history.last(static_cast<size_t>(options.penalty_window));
  const bool counted = penalises(options);
  std::unordered_map<int32_t, int64_t> counts;
  for (size_t i = 0; counted && i < history.size(); ++i)
    if (known(history[i])) ++counts[history[i]];
  for (const auto& [id, count] : counts) {
    double& score = scored[id].score;
    score = score > 0 ? score / options.repetition_penalty : score * options.repetition_penalty;
    score -= options.frequency_penalty * static_cast<double>(count) + options.presence_penalty;
  }
  for (const int32_t id : options.never)
    if (known(id)) scored[id].score = kForbidden;
  return scored;
}

// e^(score / temperature) less a common factor.
struct Weights {
  double top = 0;  // the highest score
  double temperature = 1;
  double of(const Scored& token) const { return std::exp((token.score - top) / temperature); }
};

// The likeliest tokens that top-k leaves, sorted, in parts: top-p and min-p mostly need only the first few of a large
// vocabulary, and sorting all of it would take longer than the model.
class Sorted {
 public:
  Sorted(std::vector<Scored>& tokens, size_t most) : tokens_(tokens), most_(std::min(most, tokens.size())) {}

  size_t size() const { return most_; }
  const Scored& at(size_t i) {
    while (i >= sorted_) {
      const size_t upto = std::min(most_, std::max<size_t>(64, 4 * sorted_));
      const auto begin = tokens_.begin() + static_cast<ptrdiff_t>(sorted_);
      std::partial_sort(begin, tokens_.begin() + static_cast<ptrdiff_t>(upto), tokens_.end(), likelier);
      sorted_ = upto;
    }
    return tokens_[i];
  }

 private:
  std::vector<Scored>& tokens_;
  size_t most_;
  size_t sorted_ = 0;
};

// How many of the sorted tokens top-p and min-p leave.
size_t filtered(Sorted& sorted, const std::vector<Scored>& tokens, const SamplingOptions& options,
                const Weights& weights) {
  double total = 0;
  if (options.top_p < 1) {
    if (sorted.size() < tokens.size())
      for (size_t i = 0; i < sorted.size(); ++i) total += weights.of(sorted.at(i));
    else
      for (const Scored& token : tokens) total += weights.of(token);
  }
  double sum = 0;
  size_t count = 0;
  while (count < sorted.size()) {
    const double weight = weights.of(sorted.at(count));
    if (count > 0 && (weight < options.min_p || weight == 0)) break;
    ++count;
    sum += weight;
    if (options.top_p < 1 && sum >= options.top_p * total) break;
  }
  return count;
}

std::vector<Candidate> normalised(std::span<const Scored> tokens, const Weights& weights) {
  std::vector<Candidate> result(tokens.size());
  double sum = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    result[i] = {tokens[i].id, weights.of(tokens[i])};
    sum += result[i].probability;
  }
  for (Candidate& candidate : result) candidate.probability /= sum;
  return result;
}

// The likeliest token of scores that nothing is added to or taken from: without a list of them all. None: those that
// are never to be chosen stand before all others.
std::optional<int32_t> likeliest_allowed(std::span<const real> logits, const std::vector<int32_t>& never) {
  std::vector<kernels::RankedNumber> best(std::min(logits.size(), never.size() + 1));
  if (!kernels::top_numbers(logits, best)) return std::nullopt;
  for (const kernels::RankedNumber& token : best)
    if (static_cast<double>(token.value) > kForbidden &&
        std::find(never.begin(), never.end(), token.place) == never.end())
      return token.place;
  return std::nullopt;
}

}  // namespace

void check_sampling(const SamplingOptions& options) {
  const auto number = [](double x) { return std::isfinite(x); };
  check(number(options.temperature) && options.temperature >= 0,
        "[sampling] a temperature of {}: it is 0 (the likeliest token) or more", options.temperature);
  check(options.top_k >= 0, "[sampling] top-k {}: it is 0 (all tokens) or more", options.top_k);
  check(options.top_p > 0 && options.top_p <= 1, "[sampling] top-p {}: it is above 0 and at most 1 (all tokens)",
        options.top_p);
  check(options.min_p >= 0 && options.min_p <= 1, "[sampling] min-p {}: it is 0 (all tokens) to 1", options.min_p);
  check(number(options.repetition_penalty) && options.repetition_penalty > 0,
        "[sampling] a repetition penalty of {}: it is above 0; 1 is none", options.repetition_penalty);
  check(number(options.frequency_penalty) && number(options.presence_penalty),
        "[sampling] frequency and presence penalties are numbers; 0 is none");
  check(options.penalty_window >= 0, "[sampling] a penalty window of {}: it is 0 (the whole text) or more",
        options.penalty_window);
}

std::vector<Candidate> candidates(std::span<const real> logits, std::span<const int32_t> history,
                                  const SamplingOptions& options) {
  check(!logits.empty(), "[sampling] there are no tokens to choose from");
  constexpr size_t kFew = 16;
  if (options.temperature == 0 && options.bias.empty() && !penalises(options) && options.never.size() <= kFew)
    if (const auto id = likeliest_allowed(logits, options.never)) return {{*id, 1}};
  std::vector<Scored> tokens = adjusted(logits, history, options);
  const Scored best = *std::min_element(tokens.begin(), tokens.end(), likelier);
  check(best.score > kForbidden, "[sampling] every token is forbidden: allow at least one");
  if (options.temperature == 0) return {{best.id, 1}};
  const bool all = options.top_k == 0 && options.top_p >= 1 && options.min_p <= 0;
  const Weights drawn{best.score, options.temperature};
  if (all) return normalised(tokens, drawn);
  const Weights filtering{best.score, options.temperature_last ? 1 : options.temperature};
  Sorted sorted(tokens, options.top_k > 0 ? static_cast<size_t>(options.top_k) : tokens.size());
  const size_t count = filtered(sorted, tokens, options, filtering);
  return normalised(std::span(tokens).first(count), drawn);
}

Candidate draw(std::span<const Candidate> candidates, double uniform) {
  check(!candidates.empty(), "[sampling] there are no tokens to choose from");
  double sum = 0;
  const Candidate* last = &candidates.front();
  for (const Candidate& candidate : candidates) {
    if (candidate.probability <= 0) continue;
    sum += candidate.probability;
    last = &candidate;
    if (uniform < sum) break;
  }
  return *last;  // rounding can leave the sum below a number close to one
}

double log_sum_of_exp(std::span<const real> logits) {
  check(!logits.empty(), "[sampling] there are no tokens to choose from");
  const kernels::SumOfExponentials sum = kernels::sum_of_exponentials(logits);
  const double result = static_cast<double>(sum.max) + std::log(static_cast<double>(sum.sum));
  check(std::isfinite(result), "[sampling] the model's scores are not numbers: it has diverged or is damaged");
  return result;
}

std::vector<TokenScore> likeliest(std::span<const real> logits, int64_t count, double log_sum) {
  if (count <= 0) return {};
  std::vector<kernels::RankedNumber> best(std::min(logits.size(), static_cast<size_t>(count)));
  kernels::top_numbers(logits, best);
  std::vector<TokenScore> result;
  for (const kernels::RankedNumber& token : best)
    result.push_back({token.place, static_cast<real>(static_cast<double>(token.value) - log_sum)});
  return result;
}

}  // namespace limpid
