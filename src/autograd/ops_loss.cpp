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

// What every row's gradient is multiplied by.
real share_of(const LossOptions& options, size_t labels) {
  return static_cast<real>(options.upstream / (options.tokens > 0 ? options.tokens : static_cast<double>(labels)));
}

// The loss of x·Wᵀ + b. Goes through the logits some rows at a time, forward alone or both ways.
class ProjectedLoss {
 public:
  ProjectedLoss(const Run& run, const Tensor& x, const Weight& weight, const Weight* bias,
                std::span<const int32_t> labels, const LossOptions& options)
      : arena_(run.arena()),
        recorded_(run.tape() != nullptr),
        x_(x),
        weight_(weight),
        bias_(bias),
        labels_(labels.begin(), labels.end()),
        options_(options) {}

  double forward() const {
    return pass([&](int64_t begin, Matrix logits, real* losses) {
      kernels::cross_entropy_forward(logits, labels_.data() + begin, options_.smoothing, losses);
    });
  }

  double forward_and_backward(Tape& tape) const {
    GradientTarget dx;
    Buffer scratch;
    ConstMatrix w;  // (V, d)
    if (x_.needs_gradient()) {
      dx = tape.grad_out(x_);
      w = {as_real(weight_, weight_.size(), arena_, scratch), weight_.shape[0], weight_.shape[1]};
    }
    return pass([&](int64_t begin, Matrix logits, real* losses) {
      kernels::cross_entropy_forward_backward(logits, labels_.data() + begin, options_.smoothing,
                                              share_of(options_, labels_.size()), losses);
      if (w.data)
        kernels::gemm(Transpose::no, logits, Transpose::no, w, dx.view.rows_from(begin, logits.rows), dx.accumulate);
      if (tape.wants(weight_)) {
        bool accumulate = false;
        const Weight* weights[] = {&weight_};
        const Matrix dw{tape.gradients().open(weights, accumulate), weight_.shape[0], weight_.shape[1]};
        kernels::gemm(Transpose::yes, logits, Transpose::no, x_.values().rows_from(begin, logits.rows), dw, accumulate);
      }
      if (bias_ && tape.wants(*bias_)) kernels::column_sums(logits, tape.gradients().open_to_add(*bias_), true);
    });
  }

 private:
  // Calls body(first row, logits, losses) for some rows after others; returns the sum of the losses.
  template <class Body>
  double pass(const Body& body) const {
    const int64_t vocabulary = weight_.shape[0], count = x_.rows();
    const int64_t chunk = std::clamp<int64_t>(kLogitsAtOnce / vocabulary / 64 * 64, 64, std::max<int64_t>(64, count));
    Tensor buffer(arena_, std::min(chunk, count), vocabulary);  // (R, V)
    std::vector<real> losses(labels_.size());
    for (int64_t begin = 0; begin < count; begin += chunk) {
      const int64_t rows = std::min(chunk, count - begin);
      const Matrix logits = buffer.values().rows_from(0, rows);
      multiply_by(arena_, recorded_, weight_, bias_, x_.values().rows_from(begin, rows), logits);
      body(begin, logits, losses.data() + begin);
    }
    return std::accumulate(losses.begin(), losses.end(), 0.0);
  }

  Arena arena_;
  bool recorded_;
  Tensor x_;  // (T, d)
  const Weight& weight_;
  const Weight* bias_;
  std::vector<int32_t> labels_;
  LossOptions options_;
};

// The same of logits that stand in memory.
class LogitLoss {
 public:
  LogitLoss(const Tensor& logits, std::span<const int32_t> labels, const LossOptions& options)
      : logits_(logits), labels_(labels.begin(), labels.end()), options_(options) {}

  double forward() const {
    std::vector<real> losses(labels_.size());
    kernels::cross_entropy_forward(logits_.values(), labels_.data(), options_.smoothing, losses.data());
    return std::accumulate(losses.begin(), losses.end(), 0.0);
  }

  double forward_and_backward(Tape& tape) const {
    std::vector<real> losses(labels_.size());
    Tensor gradient(tape.arena(), logits_.rows(), logits_.cols());
    kernels::add_scaled(logits_.values(), 1, gradient.values(), false);
    kernels::cross_entropy_forward_backward(gradient.values(), labels_.data(), options_.smoothing,
                                            share_of(options_, labels_.size()), losses.data());
    tape.seed(logits_, gradient.values());
    return std::accumulate(losses.begin(), losses.end(), 0.0);
  }

 private:
  Tensor logits_;
  std::vector<int32_t> labels_;
  LossOptions options_;
};

template <class Kind>
Loss loss_of(Run& run, bool records, Kind kind, size_t labels) {
  const auto tokens = static_cast<int64_t>(labels);
  if (!records) return {kind.forward(), tokens};
  const auto shared = std::make_shared<const Kind>(std::move(kind));
  const Loss loss([shared] { return shared->forward(); }, tokens);
  run.tape()->record([shared, loss](Tape& tape) { loss.settle(shared->forward_and_backward(tape)); });
  return loss;
}

}  // namespace

struct Loss::Value {
  std::function<double()> compute;  // none: the sum is known
  double sum = 0;
};

Loss::Loss(double sum, int64_t tokens) : value_(std::make_shared<Value>(Value{{}, sum})), tokens_(tokens) {}
Loss::Loss(std::function<double()> sum, int64_t tokens)
    : value_(std::make_shared<Value>(Value{std::move(sum), 0})), tokens_(tokens) {}

double Loss::sum() const {
  if (value_->compute) settle(value_->compute());
  return value_->sum;
}

void Loss::settle(double sum) const { *value_ = {{}, sum}; }

Loss cross_entropy(Run& run, const Tensor& x, const Weight& weight, const Weight* bias, std::span<const int32_t> labels,
                   const LossOptions& options) {
  check_labels(labels, x.rows(), weight.shape[0]);
  return loss_of(run, run.records({&x}, {&weight, bias}), ProjectedLoss(run, x, weight, bias, labels, options),
                 labels.size());
}

Loss cross_entropy(Run& run, const Tensor& logits, std::span<const int32_t> labels, const LossOptions& options) {
  check_labels(labels, logits.rows(), logits.cols());
  return loss_of(run, run.records({&logits}), LogitLoss(logits, labels, options), labels.size());
}

}  // namespace limpid
