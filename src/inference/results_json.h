#pragma once
// What a model made of texts, as JSON: the same for the command line and for whoever answers over a network.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/real.h"
#include "inference/complete.h"
#include "inference/fill_mask.h"
#include "inference/score.h"
#include "text/tokenizer.h"

namespace limpid {

// Tokens with their log-probabilities, in their order.
nlohmann::ordered_json top_json(const Tokenizer& tokenizer, const std::vector<TokenScore>& top);

struct CompletedPrompt {
  const std::string& text;
  uint64_t seed;
  uint64_t sample;
  size_t tokens;
};
// `echo`: the text with the prompt before it. `top`: with the likeliest tokens in each token's place.
nlohmann::ordered_json completion_json(const Tokenizer& tokenizer, const CompletedPrompt& prompt,
                                       const Completion& completion, bool echo, bool top);

// A text whose masks were filled: `filled` has the likeliest token in the place of each.
nlohmann::ordered_json masks_json(const Tokenizer& tokenizer, const std::string& text, const std::string& filled,
                                  const std::vector<FilledMask>& masks);

double perplexity(const TextScore& score);
nlohmann::ordered_json score_json(const Tokenizer& tokenizer, const std::string& text, const TextScore& score);

// Labels from the likeliest on.
std::vector<size_t> ranked_labels(const std::vector<double>& numbers);
// A number for every label, as classify() gives them: probabilities, or the model's own scores.
nlohmann::ordered_json labels_json(const std::string& text, const std::vector<double>& numbers, const Config& config);

nlohmann::ordered_json vector_json(const std::string& text, const std::vector<real>& vector);

nlohmann::ordered_json tokens_json(const Tokenizer& tokenizer, std::span<const int32_t> ids);

// On one line; bytes that are no text are replaced.
std::string one_line(const nlohmann::ordered_json& json);

}  // namespace limpid
