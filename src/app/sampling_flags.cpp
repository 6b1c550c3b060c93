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

}  // namespace limpid
