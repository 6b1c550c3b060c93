#pragma once
// What a request for completions asks for, read from its body: the fields that /v1/completions and
// /v1/chat/completions have in common.

#include <string>
#include <vector>

#include "inference/request_options.h"
#include "server/json_fields.h"
#include "server/served_models.h"

namespace limpid {

// Bounds on what one request may ask for.
struct RequestLimits {
  int64_t prompt_tokens = 0;  // 0: as many as the model's context
  int64_t output_tokens = 0;  // of one text; 0: likewise
  int64_t texts = 128;        // prompts times samples
};

struct OpenAiCall {
  std::string model;
  RequestOptions options;                        // what may also come from the model's files
  SamplingOptions sampling;                      // the rest: penalties, bias
  const char* most_tokens_field = "max_tokens";  // by whose name options.max_tokens was given
  int64_t n = 1, best_of = 1;
  std::vector<std::string> stop;
  uint64_t seed = 0;
  bool stream = false, include_usage = false, echo = false;
  bool ignore_end = false;  // "ignore_eos", as other servers have it too: for measurements
  int64_t logprobs = -1;    // likeliest tokens told with each token; -1: nothing is told

  struct Prompt {
    std::vector<int32_t> ids;
    std::string text;  // for echo
  };
  std::vector<Prompt> prompts;
};

// A text, a list of texts, the token ids of one text, or of several: what "prompt" and "input" can be. `ids_of` makes
// the ids of a text. Refuses what is too much before it is cut into tokens.
using IdsOfText = std::vector<int32_t> (*)(const LoadedModel& loaded, const std::string& text);
std::vector<OpenAiCall::Prompt> read_texts(const nlohmann::json& value, const char* field, const ServedModel& model,
                                           const RequestLimits& limits, IdsOfText ids_of);

// Of a prompt.
int64_t most_prompt_tokens(const ServedModel& model, const RequestLimits& limits);

// Reads what both have in common; the caller reads the rest and calls fields.finish().
OpenAiCall read_call(JsonFields& fields);

// The options of one completion.
CompletionOptions completion_options(const OpenAiCall& call, const ServedModel& model, int64_t prompt_tokens,
                                     const RequestLimits& limits);

// Refuses what is too long or too much. `field` is the field of the request that holds the texts.
void check_call(const OpenAiCall& call, const char* field, const ServedModel& model, const RequestLimits& limits);

}  // namespace limpid
