#pragma once
// Completion: a model goes on with a text by drawing one token after another. For language models (the text goes on
// from a prompt) and for encoder-decoder models (a target is drawn for a source).
//
// Many texts are worked on at once; each may join at any time, has options of its own, and comes out as if it had been
// alone: what is drawn depends on the seed, the sample's number and how many tokens were written before.

#include <functional>
#include <string>
#include <string_view>

#include "inference/decoder_state.h"
#include "inference/sampling.h"
#include "inference/text_stream.h"

namespace limpid {

enum class Ending {
  end_token,     // the model ended the text
  stop_string,   // a stop string came
  max_tokens,    // as many tokens as asked for
  context_full,  // no more tokens fit into the model's context
  cancelled,     // whoever listens has heard enough
};
std::string_view name_of(Ending ending);  // "end token", …

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
};

struct WrittenToken {
  int32_t id = 0;
  double log_probability = 0;   // by the model itself: before penalties, temperature and filters
  std::vector<TokenScore> top;  // by the model itself, likeliest first
};

struct Completion {
  std::vector<WrittenToken> tokens;  // without the end token; with those that spell the stop string
  std::string text;                  // without the prompt (with a forced prefix), without the stop string
  Ending ending = Ending::max_tokens;
  std::string stop_string;     // the one that came
  double log_probability = 0;  // of all tokens, and of the end token where the model ended the text
  int64_t forgotten = 0;       // tokens at the beginning that the context had no room for
};

// What a listener is told after each token: text may be empty while a character is not whole.
struct CompletionPart {
  std::string_view text;
  const WrittenToken* token;  // null: the end, where text is what was held back
};

struct CompletionRequest {
  std::vector<int32_t> ids;          // a prompt; of encoder-decoder models the source with its end token
  std::vector<int32_t> prefix = {};  // encoder-decoder models: tokens that the text must begin with
  CompletionOptions options = {};
  uint64_t sample = 0;                                       // several of one prompt differ by it
  std::function<bool(const CompletionPart&)> listener = {};  // false: enough
};

class Completer {
 public:
  // The tokenizer is that of the text written. Both must outlive the completer.
  Completer(const Model& model, const Tokenizer& tokenizer);

  // Reads the prompt and lets the text join; returns its number. Throws where the prompt alone is too long.
  int64_t add(CompletionRequest request);

  struct Finished {
    int64_t number = 0;
    Completion completion;
  };
  // One more token for every text; those that ended.
  std::vector<Finished> step();

  int64_t running() const { return static_cast<int64_t>(texts_.size()); }

 private:
  struct Text;
  struct Choice {
    int32_t id = 0;
    double log_probability = 0;
    std::vector<TokenScore> top;
  };

  int64_t context_of(const CompletionOptions& options) const;
  std::vector<Finished> make_room();
  void keep(const std::vector<bool>& going_on);
  Choice choose(const Text& text, std::span<const real> logits) const;
  bool accept(Text& text, Choice choice) const;
  void end(Text& text, Ending ending) const;

  const Model& model_;
  const Tokenizer& tokenizer_;
  bool continues_;  // a prompt: a language model
  std::unique_ptr<DecoderState> state_;
  std::vector<int32_t> ends_;                 // tokens that end a text
  std::vector<int32_t> never_;                // tokens that are no text
  std::vector<std::unique_ptr<Text>> texts_;  // in the order of the state's rows
  std::vector<int32_t> ids_;                  // the next token of each row
  int64_t added_ = 0;
};

// All requests, at most so many at once; results in their order.
std::vector<Completion> complete(const Model& model, const Tokenizer& tokenizer,
                                 std::span<const CompletionRequest> requests, int64_t texts_at_once = 16);

}  // namespace limpid
