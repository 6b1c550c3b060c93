#pragma once
// Session: a model with its tokenizers, and texts made ready for it. What looks inside runs on an Example: one text
// (encoder-decoder models: one pair) and the tokens at which the model answers.

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "autograd/probe.h"
#include "inference/loaded_model.h"
#include "inspect/tap_names.h"

namespace limpid {

class PassMemory;

struct Example {
  Batch batch;                      // of one sequence
  TokenChoice choice;               // the tokens at which the model answers: all, of a classifier the first
  std::vector<std::string> source;  // the tokens as people read them; encoder-decoder models only
  std::vector<std::string> input;   // the tokens that the model reads (of a decoder: shifted by one)
  std::vector<int32_t> next;        // the token after each position; -1: not known
  std::shared_ptr<Probe> changes;   // interventions, in force in every pass over this text (inspect/pass.h); null: none
  std::shared_ptr<PassMemory>
      memory;  // of passes by one model (inspect/pass_memory.h); null: every question runs its own

  int64_t positions() const { return batch.input.sequences.tokens(); }
};

struct Text {
  std::string text;    // what the model reads
  std::string target;  // encoder-decoder models: what it is taken to write; empty: what it would write itself
};

struct Session {
  LoadedModel loaded;

  const Model& model() const { return *loaded.model; }
  const Config& config() const { return loaded.config(); }
  bool two_sided() const;  // reads one text and writes another
  const Tokenizer& reader() const { return loaded.reader(); }
  const Tokenizer& writer() const { return loaded.writer(); }

  Example example(const Text& text) const;
  // The token that a word is; its first one where it is several. "#17" is the token of that id.
  int32_t token(const Tokenizer& tokenizer, const std::string& word) const;
  std::string piece(int32_t id) const;       // of the side that writes; of a classifier: the label
  const std::vector<TapInfo>& taps() const;  // list_taps, found by the first who asks

  struct FoundTaps {
    std::once_flag once;
    std::vector<TapInfo> taps;
  };
  std::shared_ptr<FoundTaps> found = std::make_shared<FoundTaps>();  // for taps()
};

Session open_session(const std::filesystem::path& folder);

// The same from ids. A sequence of one is allowed for language models: every position's answer is looked at, also the
// last one's.
Example example_of(const Config& config, const std::vector<int32_t>& source, const std::vector<int32_t>& ids);

// Tokens as people read them; "#17" where the tokenizer knows fewer ids than the model.
std::string piece_of(const Tokenizer& tokenizer, int32_t id);
std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const std::vector<int32_t>& ids);

// One forward pass without a tape; the probe may be null. The logits, (positions, vocabulary).
Tensor forward_logits(const Model& model, const Example& example, Probe* probe);

// What the model says after a position (a classifier: of the whole text).
int32_t likeliest_token(const Model& model, const Example& example, int64_t position);

// A position counted from the start, or from the end where negative.
int64_t position_of(const Example& example, int64_t position);

// The name of a block's taps: "blocks.3", "decoder.3". side: "" (the stack that writes), "encoder" or "decoder".
std::string stack_scope(const Config& config, const std::string& side = "");
const StackConfig& stack_config(const Config& config, const std::string& side = "");

}  // namespace limpid
