// Cross entropy, fused with the output projection. Letters: T tokens, d features, V vocabulary, R rows at a time.

#include <algorithm>
#include <numeric>

#include "autograd/ops.h"
#include "kernels/cross_entropy.h"
#include "kernels/gemm.h"
#include "kernels/reduce.h"
#include "kernels/rows.h"

namespace limpid {
namespace {

using kernels::Transpose;

constexpr int64_t kLogitsAtOnce = int64_t{4}
                                  << 20;  // numbers: 16 MB of float stay in the last-level cache of most machines

void check_labels(std::span<const int32_t> labels, int64_t rows, int64_t classes) {
  check(static_cast<int64_t>(labels.size()) == rows, "[loss] {} labels for {} rows", labels.size(), rows);
  for (size_t i = 0; i < labels.size(); ++i)
    check(labels[i] >= 0 && labels[i] < classes, "[loss] label {} at place {} is not in [0, {})", labels[i], i,
          classes);
}

double divisor_of(const LossOptions& options, size_t labels) {
  return options.tokens > 0 ? options.tokens : static_cast<double>(labels);
}

}  // namespace

Loss cross_entropy(Run& run, const Tensor& x, const Weight& weight, const Weight* bias, std::span<const int32_t> labels,
                   const LossOptions& options) {
  const int64_t vocabulary = weight.shape[0];
  check_labels(labels, x.rows(), vocabulary);
  const real share = static_cast<real>(1 / divisor_of(options, labels.size()));
  const bool records = run.records({&x}, {&weight, bias});
  Tape* tape = run.tape();
  const bool to_weight = records && tape->wants(weight), to_bias = records && bias && tape->wants(*bias);
  const int64_t chunk = std::clamp<int64_t>(kLogitsAtOnce / vocabulary / 64 * 64, 64, std::max<int64_t>(64, x.rows()));
  Tensor logits_buffer(run.arena(), std::min(chunk, x.rows()), vocabulary);  // (R, V)
  Tensor dx;
  Buffer scratch;
  ConstMatrix w;  // (V, d), for the way back
  if (records && x.needs_gradient()) {
    dx = Tensor(run.arena(), x.rows(), x.cols());
    w = {as_real(weight, weight.size(), run.arena(), scratch), vocabulary, weight.shape[1]};
  }
  std::vector<real> losses(labels.size());
  for (int64_t begin = 0; begin < x.rows(); begin += chunk) {
    const int64_t rows = std::min(chunk, x.rows() - begin);
    const ConstMatrix part = x.values().rows_from(begin, rows);  // (R, d)
    const Matrix logits = logits_buffer.values().rows_from(0, rows);
    multiply_by(run, weight, bias, part, logits);
    if (!records) {
      kernels::cross_entropy_forward(logits, labels.data() + begin, options.smoothing, losses.data() + begin);
      continue;
    }
    kernels::cross_entropy_forward_backward(logits, labels.data() + begin, options.smoothing, share,
                                            losses.data() + begin);
    if (!dx.empty()) kernels::gemm(Transpose::no, logits, Transpose::no, w, dx.values().rows_from(begin, rows), false);
    if (to_weight) {
      bool accumulate = false;
      const Weight* weights[] = {&weight};
      const Matrix dw{tape->gradients().open(weights, accumulate), vocabulary, weight.shape[1]};
      kernels::gemm(Transpose::yes, logits, Transpose::no, part, dw, accumulate);
    }
    if (to_bias) kernels::column_sums(logits, tape->gradients().open_to_add(*bias), true);
  }
  if (!dx.empty()) {
    tape->record([x = x.gradient_only(), dx](Tape& t) {
      const GradientTarget into = t.grad_out(x);
      kernels::add_scaled(dx.values(), 1, into.view, into.accumulate);
    });
  }
  return {std::accumulate(losses.begin(), losses.end(), 0.0), static_cast<int64_t>(labels.size())};
}

Loss cross_entropy(Run& run, const Tensor& logits, std::span<const int32_t> labels, const LossOptions& options) {
  check_labels(labels, logits.rows(), logits.cols());
  std::vector<real> losses(labels.size());
  if (run.records({&logits})) {
    const real share = static_cast<real>(1 / divisor_of(options, labels.size()));
    Tensor gradient = constant(run, logits.values());
    kernels::cross_entropy_forward_backward(gradient.values(), labels.data(), options.smoothing, share, losses.data());
    run.tape()->record(
        [logits = logits.gradient_only(), gradient](Tape& tape) { tape.seed(logits, gradient.values()); });
  } else {
    kernels::cross_entropy_forward(logits.values(), labels.data(), options.smoothing, losses.data());
  }
  return {std::accumulate(losses.begin(), losses.end(), 0.0), static_cast<int64_t>(labels.size())};
}

}  // namespace limpid
