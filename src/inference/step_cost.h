#pragma once
// StepCost: how long an engine step takes, by what it does. It costs something for itself (the weights are read once),
// for every token that is written, for every token of a prompt, and for every key that one of them attends to. How much
// is learned from step to step, so that it follows the model, the machine and what else the machine is doing. What took
// longer than expected (memory that the system had to find, another program) may do so again at once: for some steps
// reading is taken to cost as much more, so that less is read.

#include <array>
#include <cstddef>
#include <cstdint>

namespace limpid {

struct StepWork {
  int64_t written = 0;  // texts that get a token
  int64_t prompt = 0;   // tokens of prompts that are read
  int64_t keys = 0;     // attended to by all of them
};

class StepCost {
 public:
  bool known() const { return known_; }  // some step was seen
  double seconds(const StepWork& work) const;
  // With caution: what more work would take.
  double per_written_token() const { return caution_ * costs_[kWritten]; }
  double per_prompt_token() const { return caution_ * costs_[kPrompt]; }
  double per_key() const { return caution_ * costs_[kKeys]; }

  void learn(const StepWork& work, double seconds);
  StepCost times(double factor) const;  // of a machine that is slower by it

 private:
  static constexpr size_t kStep = 0, kWritten = 1, kPrompt = 2, kKeys = 3, kParts = 4;
  using Parts = std::array<double, kParts>;
  Parts parts(const StepWork& work) const;

  // Until the first step these are proportions, a guess: reading the weights takes as long as ten tokens, and a
  // thousand keys as long as one.
  Parts costs_ = {10, 1, 1, 0.001};
  bool known_ = false;
  double caution_ = 1;
};

}  // namespace limpid
