#pragma once
// Probe: somebody who looks inside. Every intermediate value passes a named tap; where a probe listens it is shown the
// value and may put another in its place.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/sequences.h"
#include "tensor/tensor.h"

namespace limpid {

// How to read the rows of a tapped value.
struct TapLayout {
  const Sequences* rows = nullptr;  // the sequences that the rows (of pairs: the queries) belong to
  const Sequences* keys = nullptr;  // pairs only: the sequences looked at. The value is then one row of numbers: for
                                    // each sequence (heads, queries, keys), one sequence after another
  int64_t heads = 1;                // features are heads·size, or pairs are per head
  const std::vector<int32_t>* order = nullptr;  // of recurrent models, whose taps fire once per step: rows->begin(i)
                                                // belongs to sequence order[i] of the batch; null: to sequence i
  int64_t step = 0;                             // and the step, counted from 0
  bool other_kernel =
      false;  // this value is kept only because it is watched: a kernel that keeps it took the place of the
              // fast one, and results agree with an unwatched run within rounding instead of bit for bit
};

struct Tap {
  std::string name;  // "decoder.3.self_attn.pattern"
  const Tensor& value;
  TapLayout layout;

  // The rows of one sequence, or the (queries, keys) of one head of one sequence.
  ConstMatrix sequence(int64_t i) const;
  ConstMatrix pairs(int64_t i, int64_t head) const;
};

// What a replaced value does to gradients: the rest of the model sees the tensor that the probe returned, and gradients
// flow back the way that tensor was made. Numbers put in by hand are constants: nothing flows further back. A value
// computed from the tapped one by operations of the same Run passes its gradient through those operations.
class Probe {
 public:
  virtual ~Probe() = default;

  // Asked before work that only a listener needs, such as keeping attention scores.
  virtual bool wants(std::string_view name) const = 0;

  // Called for every tap whose name is wanted. Returns the value to go on with: tap.value itself changes nothing.
  // To keep a value beyond the call, copy its numbers or the Tensor; a kept Tensor stays as it was.
  virtual Tensor visit(const Tap& tap) = 0;
};

// A probe made of functions: on("decoder.*.cross_attn.pattern", …); `*` stands for any run of characters.
class FunctionProbe : public Probe {
 public:
  using Reader = std::function<void(const Tap&)>;
  using Replacer = std::function<Tensor(const Tap&)>;

  void on(std::string pattern, Reader reader);
  void replace(std::string pattern, Replacer replacer);

  bool wants(std::string_view name) const override;
  Tensor visit(const Tap& tap) override;

 private:
  std::vector<std::pair<std::string, Replacer>> rules_;
};

bool matches_pattern(std::string_view pattern, std::string_view name);

}  // namespace limpid
