#pragma once
// Positions: what tells a token where it stands, since attention alone does not see order. Vectors added to the
// embeddings, sinusoidal ("Attention Is All You Need", section 3.5) or learned; rotary positions live in attention.

#include "autograd/ops.h"
#include "layers/token_layout.h"

namespace limpid {

// sin and cos of position·10000^(-2i/d): in two halves as Hugging Face has it, or alternating as the paper writes it;
// fairseq's exponent is -i/(d/2 - 1).
enum class SinusoidLayout { halves, interleaved, fairseq };
std::vector<real> sinusoids(int64_t positions, int64_t width, SinusoidLayout layout);

class Positions {
 public:
  Positions() = default;
  // Position p is row p + offset of the table.
  static Positions sinusoidal(int64_t max_positions, int64_t offset, int64_t width, SinusoidLayout layout);
  static Positions learned(const std::string& name, int64_t max_positions, int64_t offset, int64_t width,
                           const Initial& initial);

  bool none() const { return max_positions_ == 0; }
  Tensor forward(Run& run, const TokenLayout& layout) const;  // (tokens, width)
  void visit(const WeightVisitor& visitor);

 private:
  int64_t max_positions_ = 0, offset_ = 0;
  bool learned_ = false;
  Weight table_;  // learned, or a view of the sinusoids
  std::shared_ptr<std::vector<real>> sinusoids_;
};

}  // namespace limpid
