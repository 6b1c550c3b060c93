#pragma once
// Holds a model against a reference case: a folder with config.json, model.safetensors, batch.json and
// expected.safetensors (logits, loss, activations, every gradient, ten Adam steps) computed by somebody else, usually
// PyTorch in double.

#include <filesystem>
#include <string>
#include <vector>

#include "base/real.h"

namespace limpid {

struct Tolerances {
  double values = 5e-6;  // logits, loss, activations, and each of the ten losses
  double gradients = 5e-5;
};

// The largest error of one kind of number, and where it stands.
struct LargestError {
  double error = 0;
  std::string where;
  int64_t compared = 0;  // tensors

  void note(double candidate, const std::string& name);
};

struct CaseReport {
  std::string name;
  int64_t parameters = 0;
  Tolerances tolerances = {};
  bool values_only = false;  // neither loss nor gradients
  LargestError logits, loss, activations, gradients, adam;
  bool passed() const;
};

// The folder's own name, however its path ends.
std::string case_name(const std::filesystem::path& folder);

// NaN where the shapes differ or a number is NaN, so that it never passes for small.
double largest_difference(const std::vector<real>& got, const std::vector<real>& expected);

// Errors are relative to the largest number of the tensor; of a gradient, or to a thousandth of the model's largest
// gradient where that is greater (a key bias has a true gradient of zero).
CaseReport verify_case(const std::filesystem::path& folder);

}  // namespace limpid
