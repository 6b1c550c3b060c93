#pragma once
// Sparse autoencoders (Bricken et al. 2023; top-k: Gao et al. 2024): a vector x from inside a model as a sum of few
// directions out of many. f = act((x - b_dec)·W_enc + b_enc), x̂ = f·W_dec + b_dec; the rows of W_dec, one per feature,
// have length one. Names, shapes and files are those of SAELens: a folder of cfg.json and sae_weights.safetensors.

#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "autograd/ops.h"

namespace limpid {

enum class SaeKind {
  relu,  // act = ReLU, trained with λ·Σf ("standard")
  topk,  // act keeps the k largest that are positive ("topk")
};

struct SaeConfig {
  SaeKind kind = SaeKind::relu;
  int64_t inputs = 0, features = 0;
  int64_t k = 32;     // topk
  std::string tap;    // ours
  std::string hook;   // TransformerLens' name of it; ours where it has none
  std::string model;  // where the model was
};

class Sae {
 public:
  explicit Sae(SaeConfig config);

  const SaeConfig& config() const { return config_; }
  void visit_parameters(const WeightVisitor& visitor);

  // Features, (rows, features), and what they say of x, (rows, inputs). Recorded where the run has a tape.
  Tensor encode(Run& run, const Tensor& x) const;
  Tensor decode(Run& run, const Tensor& features) const;

  // To be called once the weights have their place.
  void placed();

  Weight w_enc, b_enc, w_dec, b_dec;  // (inputs, features), (features), (features, inputs), (inputs)

 private:
  SaeConfig config_;
  Weight column_;  // b_dec as a matrix of one column
};

// Sets all but the k largest numbers of every row to zero, and those not above zero; of equals the first stay.
void keep_largest(int64_t k, Matrix x);

// An autoencoder with its numbers.
struct LoadedSae {
  std::unique_ptr<Sae> sae;
  std::unique_ptr<Parameters> parameters;
  std::vector<real> log_density;  // log10 of the share of tokens at which each feature fires; empty: not known
  nlohmann::ordered_json about;   // how it was trained and what it reached
};

LoadedSae make_sae(const SaeConfig& config);

// The folder appears whole or not at all; one that exists is replaced only where it holds an autoencoder.
void write_sae(const std::filesystem::path& folder, const LoadedSae& sae);
void check_sae_folder(const std::filesystem::path& folder);  // whether it may be written
LoadedSae read_sae(const std::filesystem::path& folder);

}  // namespace limpid
