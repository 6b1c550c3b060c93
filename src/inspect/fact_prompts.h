#pragma once
// The world of facts (corpora/facts.h) as questions to a language model: every sentence without its last word, and what
// the model says in its place.

#include <span>
#include <vector>

#include "corpora/facts.h"
#include "inspect/session.h"

namespace limpid {

struct FactPrompt {
  size_t sentence = 0;  // in the world
  size_t fact = 0;
  int pattern = 0;
  bool held_out = false;         // the model never read this sentence
  std::vector<int32_t> ids;      // the prompt, with what the model wants before a text
  int32_t answer = 0;            // the first token of the right word
  std::vector<int64_t> subject;  // positions of the subject's tokens
};

struct FactAnswer {
  int32_t said = 0;            // the likeliest token
  double log_probability = 0;  // of the token asked about
};

class FactPrompts {
 public:
  FactPrompts(const Session& session, const FactWorld& world);

  const std::vector<FactPrompt>& all() const { return prompts_; }
  std::vector<size_t> of_fact(size_t fact) const;  // places in all()
  std::vector<size_t> first_paraphrases() const;   // one prompt per fact, its first paraphrase
  std::vector<size_t> everything() const;
  int32_t object_token(const std::string& object) const;

  // What the session's model says, many prompts at once, or an edited one of its kind; the probe may be null. `asked`:
  // whose probability, by prompt; empty: the right answer's.
  std::vector<FactAnswer> ask(std::span<const size_t> which, Probe* probe = nullptr,
                              std::span<const int32_t> asked = {}) const {
    return ask(session_.model(), which, probe, asked);
  }
  std::vector<FactAnswer> ask(const Model& model, std::span<const size_t> which, Probe* probe = nullptr,
                              std::span<const int32_t> asked = {}) const;
  // Share of the prompts answered rightly.
  double recall(std::span<const size_t> which) const;
  Example example(size_t prompt) const;

 private:
  const Session& session_;
  std::vector<FactPrompt> prompts_;
};

}  // namespace limpid
