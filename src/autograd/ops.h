#pragma once
// Operations: each computes a value by a kernel and, where a tape records, remembers how to go back by the kernel's
// twin. Layers are written with these; a backward pass is never written elsewhere.

#include <functional>
#include <span>

#include "autograd/run.h"
#include "kernels/activation.h"
#include "kernels/attention.h"
#include "kernels/rotary.h"

namespace limpid {

// ---- products
enum class WeightLayout { out_in, in_out };  // how a matrix lies in memory: in_out is GPT-2's

// y = x·Wᵀ + b. Several weights give their outputs side by side; where they lie side by side in memory, one product
// serves all. No biases, or one per weight.
Tensor linear(Run& run, const Tensor& x, std::span<const Weight* const> weights, std::span<const Weight* const> biases,
              WeightLayout layout = WeightLayout::out_in);

// For operations on weights. The numbers of a weight, and of those that follow it in memory, as the engine computes
// with them; converted into `scratch` where they are stored in another precision.
const real* as_real(const Weight& first, int64_t count, const Arena& arena, Buffer& scratch);
// y = x·Wᵀ + b by the kernel that suits W as it is stored, and a tape that records. The bias may be null.
void multiply_by(const Arena& arena, bool recorded, const Weight& weight, const Weight* bias, ConstMatrix x, Matrix y);

// ---- element by element
// residual + drop(x); an empty residual stands for zero. Overwrites x where nobody else holds it.
Tensor dropout_add(Run& run, const Tensor& residual, Tensor x, double rate);
Tensor add(Run& run, const Tensor& a, const Tensor& b);
Tensor scale(Run& run, const Tensor& x, real factor);
Tensor multiply(Run& run, const Tensor& a, const Tensor& b);  // element by element
Tensor clip(Run& run, const Tensor& x, real limit);           // into [-limit, limit]
Tensor soft_cap(Run& run, const Tensor& x, real cap);         // cap·tanh(x/cap)
// x with row i times factors[i, 0]
Tensor scale_rows(Run& run, const Tensor& x, const Tensor& factors);
// drop(f(x)). Overwrites x where nobody else holds it and backward can do without it.
Tensor activation(Run& run, Tensor x, Activation f, double dropout_rate = 0);
// drop(f(gate)·up)
Tensor gated_activation(Run& run, const Tensor& gate, const Tensor& up, Activation f, double dropout_rate = 0);

// ---- normalisation
enum class NormKind { layer, rms, batch };
// A norm's gain: a weight, or offset + weight, or ones where there is no weight.
struct NormGain {
  NormGain() = default;
  NormGain(const Weight& gain, real gain_offset = 0) : weight(&gain), offset(gain_offset) {}
  const Weight* weight = nullptr;
  real offset = 1;
};
// The bias may be null. A row may be cut into equal parts, such as the heads of a query, each of which is normalised.
Tensor layer_norm(Run& run, const Tensor& x, const NormGain& gain, const Weight* bias, real eps, int64_t parts = 1);
Tensor rms_norm(Run& run, const Tensor& x, const NormGain& gain, real eps, int64_t parts = 1);
// The same two with the scale (the divisor √(variance + eps), one number per row) as a value of its own, for taps.
Tensor norm_scale(Run& run, const Tensor& x, NormKind kind, real eps);
Tensor normalize_by(Run& run, const Tensor& x, const Tensor& scale, NormKind kind, const NormGain& gain,
                    const Weight* bias);
struct BatchStatistics {
  const Weight *mean, *variance;  // running ones, used when not training
};
Tensor batch_norm(Run& run, const Tensor& x, const Weight& gain, const Weight& bias, const BatchStatistics& running,
                  real eps);

// ---- rows
// factor·table[ids]
Tensor embedding(Run& run, const Weight& table, std::span<const int32_t> ids, real factor = 1);
// x[rows]: a choice or another order of tokens
Tensor select_rows(Run& run, const Tensor& x, std::span<const int32_t> rows);
// y[rows[i]] += x[i], with `count` rows that begin as zero
Tensor spread_rows(Run& run, const Tensor& x, std::span<const int32_t> rows, int64_t count);
Tensor concatenate_rows(Run& run, std::span<const Tensor> parts);
Tensor concatenate_columns(Run& run, std::span<const Tensor> parts);
// Rotary positions, one per token; x is (tokens, heads·head_size). Each run of rows has its rotation.
struct RotatedRows {
  int64_t rows;
  std::shared_ptr<const Rotation> rotation;
};
Tensor rotary(Run& run, const Tensor& x, std::span<const int32_t> positions, std::vector<RotatedRows> parts);
// A table of biases by distance, (heads, distances), from a weight (buckets, heads): column c is row buckets[c] of it.
Tensor bucket_bias(Run& run, const Weight& weight, std::span<const int32_t> buckets);
// A value that no gradient flows into: numbers put in by hand.
Tensor constant(Run& run, ConstMatrix numbers);

// ---- mixtures of experts
// Of each row of logits the experts with the largest shares of the softmax, best first; shares (rows, chosen), divided
// by their sum where they are normalised.
struct Routes {
  std::vector<int32_t> experts;  // rows·chosen
  Tensor shares;
};
Routes route(Run& run, const Tensor& logits, int64_t chosen, bool normalize);

// ---- attention
// Who looks at whom: sequence i of the queries at sequence i of the keys.
struct AttentionBatch {
  AttentionShape shape;
  Sequences queries, keys;
  // Where keys and values lie instead of in k and v; all in order if the attention keeps its pairs.
  const std::vector<KeyValueCache::Entry>* cache = nullptr;
  Tensor bias = {};  // (heads, distances), as kernels::AttentionJob has it; empty: none
  int64_t bias_zero = 0;
};
// Whether someone looks at scores or patterns, so that attention takes the steps that keep them.
bool keeps_pairs(const Run& run);
// z (query tokens, heads·head_size). Dropout falls on the pattern.
Tensor attention(Run& run, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionBatch& batch,
                 double dropout_rate);
// The same in steps, for taps. Values of pairs are one row of numbers; see kernels/attention.h for their order.
Tensor attention_scores(Run& run, const Tensor& q, const Tensor& k, const AttentionBatch& batch);
Tensor attention_mask(Run& run, const Tensor& scores, const AttentionBatch& batch);
Tensor attention_softmax(Run& run, const Tensor& masked, const AttentionBatch& batch);
Tensor attention_values(Run& run, const Tensor& pattern, const Tensor& v, const AttentionBatch& batch,
                        double dropout_rate);
// Scores of additive attention: v·tanh(query + key)
Tensor additive_scores(Run& run, const Tensor& query, const Tensor& key, const Weight& v, const Sequences& queries,
                       const Sequences& keys);

// ---- recurrent cells (kernels/recurrent.h)
Tensor gru_gates(Run& run, const Tensor& gx, const Tensor& gh);
Tensor gru_state(Run& run, const Tensor& gates, const Tensor& h);
Tensor lstm_gates(Run& run, const Tensor& gx, const Tensor& gh);
Tensor lstm_cell(Run& run, const Tensor& gates, const Tensor& c);
Tensor lstm_state(Run& run, const Tensor& gates, const Tensor& c);

// ---- loss
// Of the scored tokens. A loss that a tape records is computed on the way back, as the logits are there only then;
// whoever asks for it before makes the pass over them once more.
class Loss {
 public:
  Loss(double sum, int64_t tokens);
  Loss(std::function<double()> sum, int64_t tokens);  // is called when somebody asks

  double sum() const;  // in nats
  int64_t tokens() const { return tokens_; }
  double mean() const { return sum() / static_cast<double>(tokens_); }

  void settle(double sum) const;  // for operations: it is known now

 private:
  struct Value;
  std::shared_ptr<Value> value_;
  int64_t tokens_;
};
struct LossOptions {
  real smoothing = 0;
  double tokens = 0;  // what the gradient of the sum is divided by; 0: the labels given here (their mean)
  // The derivative by this loss of what is to be differentiated. The gradient of a·L + b·M is that of L, recorded with
  // a, and of M, recorded with b on the same tape.
  double upstream = 1;
};
// Cross entropy of x·Wᵀ + b against the labels, rows at a time: the logits of all tokens never stand in memory at once.
// Where a tape records, its record begins the way back.
Loss cross_entropy(Run& run, const Tensor& x, const Weight& weight, const Weight* bias, std::span<const int32_t> labels,
                   const LossOptions& options);
// The same from logits.
Loss cross_entropy(Run& run, const Tensor& logits, std::span<const int32_t> labels, const LossOptions& options);

}  // namespace limpid
