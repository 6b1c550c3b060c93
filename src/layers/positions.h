#pragma once
// Positions: what tells a token where it stands, since attention alone does not see order. Vectors added to the
// embeddings, sinusoidal ("Attention Is All You Need", section 3.5) or learned; rotary positions live in attention.

#include <memory>
#include <mutex>
#include <vector>

#include "autograd/ops.h"
#include "layers/token_layout.h"

namespace limpid {

// sin and cos of position·10000^(-2i/d): in two halves as Hugging Face has it, or alternating as the paper writes it;
// fairseq's exponent is -i/(d/2 - 1).
enum class SinusoidLayout { halves, interleaved, fairseq };
std::vector<real> sinusoids(int64_t positions, int64_t width, SinusoidLayout layout);

// Rows of sinusoids, made as far as somebody has asked: a config may speak of more positions than there is memory.
class SinusoidTable {
 public:
  SinusoidTable(int64_t width, SinusoidLayout layout) : width_(width), layout_(layout) {}
  std::shared_ptr<const std::vector<real>> rows(int64_t count);  // so many at least

 private:
  int64_t width_;
  SinusoidLayout layout_;
  std::mutex mutex_;
  std::shared_ptr<const std::vector<real>> table_;
};

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
  Weight table_;  // learned
  std::shared_ptr<SinusoidTable> sinusoids_;
};

}  // namespace limpid
