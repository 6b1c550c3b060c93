#pragma once
// Generation: what a model writes, by beam search or by the likeliest token. The same for every family that translates;
// several texts are worked on at once (inference/engine.h), and each comes out as if it had been alone.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "inference/generation_task.h"
#include "inference/token_rules.h"
#include "models/model.h"

namespace limpid {

struct GenerateOptions {
  int64_t beam = 4;           // 1: greedy
  int64_t n_best = 1;         // hypotheses returned per text, at most `beam`
  double length_penalty = 1;  // scores are divided by length^penalty; 0: not at all
  int64_t max_tokens = 0;     // of the text written, without its end; 0: from the source, twice its tokens + 50
  int64_t max_batch = 64;     // in one lane of the engine
  int64_t memory = 0;         // bytes that texts may hold, as inference/engine.h has it; 0: no bound
  // Tokens that texts must begin with: none, one prefix for all, or one for each source. They count for scores and for
  // max_tokens like those that are searched for; a longer prefix comes out whole.
  std::vector<std::vector<int32_t>> prefixes = {};
  // Log-probabilities of tokens that the text has already are multiplied by it, as in Hugging Face's beam search; the
  // search and the scores it returns go by what results. 1: not at all.
  double repetition_penalty = 1;
  // false: who needs no scores saves a pass over the vocabulary where the likeliest token is taken. Log-probabilities
  // and scores are NaN then; a wider beam goes by them and has them anyway.
  bool scores = true;
  TokenRules rules = {};
};

struct Hypothesis {
  std::vector<int32_t> ids;  // without start and end
  double log_probability = 0;
  double score = 0;  // log_probability normalised by length; what the beam sorts by
};

struct SearchResult {
  std::vector<Hypothesis> hypotheses;  // best first
  FinishReason finish_reason =
      FinishReason::end_token;  // cancelled or deadline: what was finished by then, then what was not
};

// Tokens that may be written at most for a source of so many (with its end token).
int64_t longest_target(const Config& config, const GenerateOptions& options, int64_t source_tokens);

// The search for one text as the engine takes it: for a source (ids with the end token) and tokens that the text must
// begin with (prefixes and number of texts among the options count for translate() alone). Throws for what cannot be
// meant. inference/beam_search.h states the rule of the search. The token for padding and the one that starts a decoder
// are never written; what is longer than the model's table of positions allows ends there.
std::unique_ptr<GenerationTask> make_search(const Config& config, std::vector<int32_t> source,
                                            std::vector<int32_t> prefix, const GenerateOptions& options,
                                            std::function<void(SearchResult)> done);

// For encoder-decoder models (Transformer and recurrent): for each source the best hypotheses, best first.
std::vector<std::vector<Hypothesis>> translate(const Model& model, std::span<const std::vector<int32_t>> sources,
                                               const GenerateOptions& options);

}  // namespace limpid
