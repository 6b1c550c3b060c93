#pragma once
// What limpid complete and limpid chat have in common: at once, in a chat, and filling masks.

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "inference/complete.h"
#include "inference/loaded_model.h"
#include "inference/request_options.h"
#include "inference/results_json.h"

namespace limpid {

struct CompleteOptions {
  std::string model;
  std::vector<std::string> prompts;
  std::string file;
  bool lines = false, echo = false, json = false, stop_at_context = false;
  int64_t log_probabilities = -1;  // likeliest tokens shown; -1: no log-probabilities
  int64_t samples = 1, max_batch = 16;
  int64_t memory = 0;            // bytes; 0: no bound
  double seconds = 0;            // that writing may take; 0: any
  CompletionOptions completion;  // the usual, and what was said
  RequestOptions request;        // what was said
};

// The prompts of the command line; else of the input: one prompt per line, or all of it as one, without its last line
// end.
std::vector<std::string> read_prompts(const CompleteOptions& options, bool lines);

EngineOptions engine_options(const CompleteOptions& options);
std::optional<Engine::Clock::time_point> deadline_of(const CompleteOptions& options);  // counted from now
// How a prompt of so many tokens is continued: what the user says, else what the model's files say, else the usual.
CompletionOptions options_for(const CompleteOptions& options, const LoadedModel& loaded, int64_t prompt_tokens);

// On the standard output, at once.
void show(std::string_view text);

// What people are to know besides the text: what was forgotten, log-probabilities.
void tell(const CompleteOptions& options, const Tokenizer& tokenizer, const Completion& completion,
          const std::string& which);

// Tokens with their shares: "the" 41.0 %, "a" 12.5 %.
std::string shares(const Tokenizer& tokenizer, const std::vector<TokenScore>& tokens);

// Encoder models: the text with the likeliest tokens at its masks, and for each mask the likeliest ones.
void fill_masks_of(const CompleteOptions& options, const LoadedModel& loaded);

}  // namespace limpid
