#pragma once
// What encoder models say of a text: the tokens that may stand at its masks, or the label that it has.

#include <span>
#include <vector>

#include "inference/top_tokens.h"
#include "models/model.h"

namespace limpid {

struct FilledMask {
  int64_t position = 0;         // of the mask among the text's tokens
  std::vector<TokenScore> top;  // likeliest first
};

// For each text (ids with the special ones around them) its masks, in order. Each is guessed for itself, the others
// unseen. `never` is not proposed. Throws for a model that fills no masks.
std::vector<std::vector<FilledMask>> fill_masks(const Model& model, std::span<const std::vector<int32_t>> texts,
                                                int32_t mask, int64_t top, const std::vector<int32_t>& never = {});

// What the numbers of a classifier are, by its config: probabilities of labels of which a text has one; of each label
// by itself (problem_type multi_label_classification); or the model's own numbers (regression, and a single label, as
// rerankers have).
enum class LabelNumbers { one_of_all, each, scores };
LabelNumbers label_numbers(const Config& config);

// For each text the number of every label of the config. Throws for a model without labels.
std::vector<std::vector<double>> classify(const Model& model, std::span<const std::vector<int32_t>> texts);

}  // namespace limpid
