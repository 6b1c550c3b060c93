#pragma once
// Subword regularisation (Kudo 2018): one text has many segmentations into the pieces of a unigram model; training on
// another one in every epoch teaches a model what words are made of. Works on ids, whose pieces spell the text.

#include <span>
#include <string_view>
#include <unordered_map>

#include "base/random.h"
#include "text/tokenizer.h"

namespace limpid {

class PieceSampler {
 public:
  // `alpha` sharpens the model's distribution over segmentations: 0 draws all alike, 1 as likely as the model has them,
  // many the best one. An Error where the tokenizer is no unigram model.
  PieceSampler(std::shared_ptr<const Tokenizer> tokenizer, double alpha);
  PieceSampler(const PieceSampler&) = delete;  // pieces_ looks into texts_
  PieceSampler& operator=(const PieceSampler&) = delete;

  // Another segmentation of the text that the ids spell. Ids that are no ordinary pieces stay where they are.
  std::vector<int32_t> sample(std::span<const int32_t> ids, Random& random) const;

 private:
  struct Piece {
    int32_t id = 0;
    double weight = 0;  // alpha times the log-probability
  };
  void sample_text(std::string_view text, Random& random, std::vector<int32_t>& ids) const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::unordered_map<std::string_view, Piece> pieces_;
  std::vector<std::string> texts_;  // by id; empty: no ordinary piece
  size_t longest_ = 0;              // bytes of a piece
};

}  // namespace limpid
