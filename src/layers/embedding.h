#pragma once
// Embedding: the way in. A token's vector, scaled or not, and its position's vector, added (BERT: with the vector of
// its segment, and normalised). Where token vectors are narrower than the stream, they are projected.

#include <optional>

#include "layers/linear.h"
#include "layers/norm.h"
#include "layers/positions.h"

namespace limpid {

class Embedding {
 public:
  Embedding() = default;
  // The table belongs to the model, which may share it.
  Embedding(const Weight* table, real factor, double dropout) : table_(table), factor_(factor), dropout_(dropout) {}

  void set_positions(Positions positions) { positions_ = std::move(positions); }
  void set_segments(Weight segments) { segments_ = std::move(segments); }
  void set_norm(Norm norm) { norm_ = std::move(norm); }
  void set_projection(Linear projection) { projection_ = std::move(projection); }

  Tensor forward(Run& run, std::span<const int32_t> ids, const TokenLayout& layout) const;  // (tokens, width)
  void visit(const WeightVisitor& visitor);                                                 // all but the table

 private:
  const Weight* table_ = nullptr;
  real factor_ = 1;
  double dropout_ = 0;
  Positions positions_;
  std::optional<Weight> segments_;
  std::optional<Norm> norm_;
  std::optional<Linear> projection_;
};

}  // namespace limpid
