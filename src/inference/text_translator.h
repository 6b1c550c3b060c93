#pragma once
// Whole texts translated: cut into what the model reads at once, searched for or drawn, joined, aligned. It drives no
// engine: it makes the tasks, and whoever owns an engine runs them.

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "inference/alignment.h"
#include "inference/complete.h"
#include "inference/generate.h"
#include "inference/loaded_model.h"
#include "inference/model_text.h"

namespace limpid {

struct TextTranslatorOptions {
  GenerateOptions generate{.beam = 4};
  std::string prefix = {};  // that every translation begins with
  bool sample = false;      // drawn instead of searched for
  CompletionOptions drawing = {};
  int64_t most_written = 0;   // tokens that a part's translation has at most; 0: as many as the search lets it have
  int64_t split_above = 128;  // tokens; a longer text is translated sentence by sentence
};

// What the model is given at once: a text, or a sentence or part of a long one.
struct TranslatedPart {
  std::vector<int32_t> source;  // with what the model wants around it
  std::vector<Hypothesis> results = {};

  const Hypothesis& choice(size_t i) const { return results.at(std::min(i, results.size() - 1)); }  // or the last one
};

struct TranslatedText {
  std::vector<TranslatedPart> parts;             // of a blank text none
  int64_t source_tokens = 0;                     // of the whole text, without the end
  std::vector<size_t> cut;                       // of each sentence longer than the model reads: in how many parts
  size_t open = 0;                               // results to come
  std::function<void()> done = {};               // called when the last one has come
  std::function<void(FinishReason)> ended = {};  // called with how each part ended
  std::shared_ptr<const void> owner = {};        // what this is part of: the tasks keep it alive

  size_t choices() const;
};

class TextTranslator {
 public:
  TextTranslator(const LoadedModel& loaded, const TextTranslatorOptions& options);

  int64_t most_tokens() const { return most_tokens_; }  // of a text that the model reads at once
  int64_t split_above() const { return std::min(options_.split_above, most_tokens_); }

  // The tasks whose results arrive in `into`, which must stay where it is until none is open.
  std::vector<std::unique_ptr<GenerationTask>> start(std::string_view text, TranslatedText& into) const;

  // The choice of that rank of every part, joined.
  Hypothesis whole(const TranslatedText& text, size_t choice) const;
  std::string text_of(const TranslatedText& text, size_t choice) const;
  Alignment aligned(const TranslatedPart& part, size_t choice, const AlignmentOptions& which) const;
  // Links as pairs of token numbers, "0-0 1-2": Pharaoh's format. Tokens of later parts are counted on.
  std::string links(const TranslatedText& text, size_t choice, const AlignmentOptions& which) const;

  // Every choice with text, score, log_probability and tokens; with `which` its alignment too.
  nlohmann::ordered_json json(const TranslatedText& text, const AlignmentOptions* which) const;

  // A log-probability as the search scores it.
  double normalised(double log_probability, size_t tokens) const;

 private:
  std::vector<std::vector<int32_t>> split(std::string_view text, TranslatedText& into) const;
  int64_t most_tokens_for(const TranslatedPart& part) const;  // of its translation
  std::unique_ptr<GenerationTask> search(TranslatedText& into, size_t part) const;
  std::unique_ptr<GenerationTask> draw(TranslatedText& into, size_t part, size_t sample) const;
  nlohmann::ordered_json alignment_json(const TranslatedPart& part, size_t choice, const AlignmentOptions& which) const;

  const LoadedModel& loaded_;
  TextTranslatorOptions options_;
  std::vector<int32_t> prefix_;
  SpecialCount around_;  // of the source's tokens
  int64_t most_tokens_;
};

}  // namespace limpid
