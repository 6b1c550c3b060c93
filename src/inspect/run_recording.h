#pragma once
// What a training run shows of itself: attention and logit lens of one fixed sentence at every validation, so that one
// can watch them form. RUN/recorded/STEP.safetensors holds
//
//   NAME.pattern          (heads, queries, keys) of every attention NAME
//   lens.probability      (layers, positions) of the token that comes next
//   lens.top              (layers, positions) the likeliest token, as its id
//   lens.top_probability  (layers, positions) of it
//
// and in its metadata "limpid", as JSON: step, text, layers, attention, source, input, next, top_tokens. A model
// without attention has none of the first. Files stay small: the sentence has at most 24 tokens, and of many steps
// every second one is forgotten.

#include <filesystem>

#include "inspect/session.h"
#include "text/token_store.h"

namespace limpid {

class RunRecording {
 public:
  // `examples`: of the run's validation part; the first short one is shown.
  RunRecording(std::filesystem::path run, const TokenStore& valid);

  // The model as it is at a step. What was recorded of later steps, from which the run has come back, is forgotten.
  void record(const Model& model, const Tokenizers& tokenizers, int64_t step) const;

 private:
  std::filesystem::path folder_;
  std::vector<int32_t> first_, second_;  // the sentence, of translators with its target
};

// The steps of which there are recordings, in order.
std::vector<int64_t> recorded_steps(const std::filesystem::path& run);
std::filesystem::path recording_of(const std::filesystem::path& run, int64_t step);

}  // namespace limpid
