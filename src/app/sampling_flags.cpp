#include "app/sampling_flags.h"

namespace limpid {

void add_sampling_flags(CommandLine& line, SamplingOptions& options) {
  line.add_option("--temperature", options.temperature,
                  "0: always the likeliest token; 1: by the model's own probabilities; more: wilder")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  line.add_option("--top-k", options.top_k, "draw from the k likeliest tokens (0: all)")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  line.add_option("--top-p", options.top_p,
                  "draw from the likeliest tokens that together have this probability (1: all)")
      ->check(CLI::Range(1e-9, 1.0))
      ->capture_default_str();
  line.add_option("--min-p", options.min_p, "draw from tokens at least so likely beside the likeliest (0: all)")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  line.add_flag("--temperature-last", options.temperature_last,
                "apply the temperature after the filters, as llama.cpp does (else before, as transformers)");
  line.add_option("--repetition-penalty", options.repetition_penalty,
                  "above 1: tokens that the text has already become less likely")
      ->check(CLI::Range(0.01, 100.0))
      ->capture_default_str();
  line.add_option("--frequency-penalty", options.frequency_penalty, "taken from a token's score for each occurrence")
      ->check(CLI::Range(-100.0, 100.0));
  line.add_option("--presence-penalty", options.presence_penalty, "taken once from the score of a token that occurred")
      ->check(CLI::Range(-100.0, 100.0));
  line.add_option("--penalty-window", options.penalty_window, "penalties look at so many of the last tokens (0: all)")
      ->check(CLI::Range(0, 1 << 30));
}

void add_repetition_flag(CommandLine& line, TokenRules& rules) {
  line.add_option("--no-repeat-ngram", rules.no_repeat_ngram,
                  "no sequence of so many tokens is written twice (0: any may be)")
      ->check(CLI::Range(0, 1 << 20));
}

void add_memory_flag(CommandLine& line, int64_t& bytes) {
  line.add_option(
          "--memory", bytes,
          "most memory for texts that are worked on, such as 500MB; others wait (0: no bound). The model itself "
          "does not count")
      ->transform(CLI::AsSizeValue(false));
}

RequestOptions asked_of(const CommandLine& line, const SamplingOptions& sampling, const TokenRules& rules) {
  return {.temperature = given(line, "--temperature", sampling.temperature),
          .top_p = given(line, "--top-p", sampling.top_p),
          .min_p = given(line, "--min-p", sampling.min_p),
          .repetition_penalty = given(line, "--repetition-penalty", sampling.repetition_penalty),
          .top_k = given(line, "--top-k", sampling.top_k),
          .no_repeat_ngram = given(line, "--no-repeat-ngram", rules.no_repeat_ngram)};
}

}  // namespace limpid
