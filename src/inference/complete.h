#pragma once
// Completion: a model continues a text by sampling one token after another. For language models (the text continues
// a prompt) and for encoder-decoder models (a target is sampled for a source).
//
// Many texts are worked on at once (inference/engine.h); each has options of its own and comes out as if it had been
// alone: what is drawn depends on the seed, the sample's number and how many tokens were written before.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "inference/engine.h"
#include "inference/sampling.h"
#include "inference/text_stream.h"
#include "inference/token_rules.h"

namespace limpid {

struct CompletionOptions {
  SamplingOptions sampling;
  int64_t max_tokens = 256;
  std::vector<std::string> stop;  // the text ends before the first of them
  bool ignore_end = false;        // the end token is never chosen
  uint64_t seed = 1;
  int64_t top = 0;      // likeliest tokens told with each token
  int64_t context = 0;  // tokens that a language model looks back on; 0: as many as its config says
  bool slide = true;    // a text that outgrows the context goes on from its later half (its begin token stays); false:
                        // it ends there. Encoder-decoder models always end there
  TokenRules rules;     // sequences count with the prompt; what is said of the first token holds after the prompt. A
                        // forced first token is for encoder-decoder models alone
};

struct GeneratedToken {
  int32_t id = 0;
  double log_probability = 0;   // by the model itself: before rules, penalties, temperature and filters
  std::vector<TokenScore> top;  // by the model itself, likeliest first
};

struct Completion {
  std::vector<GeneratedToken> tokens;  // without the end token; with those that spell the stop string
  std::string text;                    // without the prompt (with a forced prefix), without the stop string
  FinishReason finish_reason = FinishReason::max_tokens;
  std::string stop_string;     // the one that came
  double log_probability = 0;  // of all tokens, and of the end token where the model ended the text
  int64_t forgotten = 0;       // tokens at the beginning that the context had no room for
};

// What a listener is told after each token: text may be empty while a character is not whole.
struct CompletionPart {
  std::string_view text;
  const GeneratedToken* token;  // null: the end, where text is what was held back
};

struct CompletionRequest {
  std::vector<int32_t> ids;          // a prompt; of encoder-decoder models the source with its end token
  std::vector<int32_t> prefix = {};  // encoder-decoder models: tokens that the text must begin with
  CompletionOptions options = {};
  uint64_t sample = 0;                                       // several of one prompt differ by it
  std::function<bool(const CompletionPart&)> listener = {};  // false: enough. Must not call the engine
};

// Of a model's special tokens: those that end a text are added to the rules, those that are no text are never drawn.
void add_special_tokens(const Config& config, const Tokenizer& tokenizer, TokenRules& rules, SamplingOptions& sampling);

// One text as the engine takes it. The tokenizer is that of the text written; it must outlive the text. Throws where
// the prompt alone is too long.
std::unique_ptr<GenerationTask> make_completion(const Config& config, const Tokenizer& tokenizer,
                                                CompletionRequest request, std::function<void(Completion)> done);

// All requests, at most so many at once; results in their order.
std::vector<Completion> complete(const Model& model, const Tokenizer& tokenizer,
                                 std::span<const CompletionRequest> requests, const EngineOptions& options = {});

}  // namespace limpid
