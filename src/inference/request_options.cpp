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

constexpr int64_t kMostBeams = 1000;

}  // namespace

void merge_sampling(const RequestOptions& request, const GenerationConfig& config, SamplingOptions& sampling,
                    TokenRules& rules) {
  take(request.temperature, config.temperature, sampling.temperature);
  take(request.top_k, config.top_k, sampling.top_k);
  take(request.top_p, config.top_p, sampling.top_p);
  take(request.min_p, config.min_p, sampling.min_p);
  take(request.repetition_penalty, config.repetition_penalty, sampling.repetition_penalty);
  if (!request.temperature && config.do_sample == false) sampling.temperature = 0;
  rules = config.rules;
  if (request.no_repeat_ngram) rules.no_repeat_ngram = *request.no_repeat_ngram;
}

int64_t merged_max_tokens(const RequestOptions& request, const GenerationConfig& config, int64_t prompt_tokens,
                          int64_t usual) {
  if (request.max_tokens) return *request.max_tokens;
  if (config.max_tokens) return std::max<int64_t>(1, *config.max_tokens);
  if (config.max_length) return std::max<int64_t>(1, *config.max_length - prompt_tokens);
  return usual;
}

GenerateOptions merged_search(const RequestOptions& request, const GenerationConfig& config, GenerateOptions usual) {
  GenerateOptions result = std::move(usual);
  if (request.beams)
    result.beam = *request.beams;
  else
    result.beam = std::max(result.n_best, std::clamp<int64_t>(config.beams.value_or(result.beam), 1, kMostBeams));
  take(request.length_penalty, config.length_penalty, result.length_penalty);
  result.max_tokens = merged_max_tokens(request, config, 1, result.max_tokens);
  SamplingOptions sampling{.repetition_penalty = result.repetition_penalty};
  merge_sampling(request, config, sampling, result.rules);
  result.repetition_penalty = sampling.repetition_penalty;
  return result;
}

}  // namespace limpid
