#include "inference/request_options.h"

#include <algorithm>

namespace limpid {
namespace {

template <class T>
void take(const std::optional<T>& asked, const std::optional<T>& wanted, T& value) {
  if (asked)
    value = *asked;
  else if (wanted)
    value = *wanted;
}

// The first of several that says something: a list that is not empty, a number that is not 0, an optional that is set.
template <class T>
const T& first_stated(const T& asked, const T& wanted, const T& usual) {
  if (asked != T{}) return asked;
  return wanted != T{} ? wanted : usual;
}

TokenRules merged_rules(const TokenRules& asked, const TokenRules& wanted, const TokenRules& usual) {
  const auto pick = [&](auto TokenRules::*field) { return first_stated(asked.*field, wanted.*field, usual.*field); };
  return {.bad_words = pick(&TokenRules::bad_words),
          .suppressed = pick(&TokenRules::suppressed),
          .suppressed_first = pick(&TokenRules::suppressed_first),
          .forced_first = pick(&TokenRules::forced_first),
          .forced_last = pick(&TokenRules::forced_last),
          .ends = pick(&TokenRules::ends),
          .least_tokens = pick(&TokenRules::least_tokens),
          .no_repeat_ngram = pick(&TokenRules::no_repeat_ngram)};
}

constexpr int64_t kMostBeams = 1000;

}  // namespace

SamplingOptions usual_sampling() {
  return {.temperature = kUsualTemperature, .top_k = kUsualTopK, .top_p = kUsualTopP};
}

void merge_sampling(const RequestOptions& request, const GenerationConfig& config, SamplingOptions& sampling,
                    TokenRules& rules) {
  take(request.temperature, config.temperature, sampling.temperature);
  take(request.top_k, config.top_k, sampling.top_k);
  take(request.top_p, config.top_p, sampling.top_p);
  take(request.min_p, config.min_p, sampling.min_p);
  take(request.repetition_penalty, config.repetition_penalty, sampling.repetition_penalty);
  if (!request.temperature && !request.sample.value_or(false) && config.do_sample == false) sampling.temperature = 0;
  rules = merged_rules(request.rules, config.rules, rules);
  if (request.no_repeat_ngram) rules.no_repeat_ngram = *request.no_repeat_ngram;
}

int64_t merged_max_tokens(const RequestOptions& request, const GenerationConfig& config, int64_t prompt_tokens,
                          int64_t usual) {
  if (request.max_tokens) return *request.max_tokens;
  if (config.max_tokens) return std::max<int64_t>(1, *config.max_tokens);
  if (config.max_length) return std::max<int64_t>(1, *config.max_length - prompt_tokens);
  return usual;
}

CompletionOptions merged_completion(const RequestOptions& request, const GenerationConfig& config,
                                    int64_t prompt_tokens, CompletionOptions usual) {
  CompletionOptions result = std::move(usual);
  merge_sampling(request, config, result.sampling, result.rules);
  result.max_tokens = merged_max_tokens(request, config, prompt_tokens, result.max_tokens);
  take(request.seed, {}, result.seed);
  take(request.top, {}, result.top);
  if (!request.stop.empty()) result.stop = request.stop;
  return result;
}

TextTranslatorOptions merged_translation(const RequestOptions& request, const GenerationConfig& config,
                                         TextTranslatorOptions usual) {
  TextTranslatorOptions result = std::move(usual);
  const bool asks_for_search = request.beams || request.n_best;
  result.sample = request.sample.value_or(!asks_for_search && config.do_sample.value_or(result.sample));
  GenerateOptions& search = result.generate;
  take(request.n_best, {}, search.n_best);
  if (request.beams)
    search.beam = *request.beams;
  else
    search.beam = std::max(search.n_best, std::clamp<int64_t>(config.beams.value_or(search.beam), 1, kMostBeams));
  take(request.length_penalty, config.length_penalty, search.length_penalty);
  search.max_tokens = merged_max_tokens(request, config, 1, search.max_tokens);
  // Whether to draw is decided: do_sample says nothing more about the temperature.
  RequestOptions drawn = request;
  drawn.sample = true;
  merge_sampling(drawn, config, result.drawing.sampling, result.drawing.rules);
  take(request.seed, {}, result.drawing.seed);
  if (!request.prefix.empty()) result.prefix = request.prefix;
  search.rules = result.drawing.rules;
  search.repetition_penalty = result.drawing.sampling.repetition_penalty;
  return result;
}

}  // namespace limpid
