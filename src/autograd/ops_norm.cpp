// Normalisation. Letters: T tokens, d features.

#include <algorithm>

#include "autograd/input_gradient.h"
#include "autograd/ops.h"
#include "kernels/norm.h"

namespace limpid {
namespace {

real* gradient_of(Tape& tape, const Weight* weight) {
  return weight && tape.wants(*weight) ? tape.gradients().open_to_add(*weight) : nullptr;
}

// The numbers of a gain; of their own where it is not just a weight.
class GainNumbers {
 public:
  GainNumbers(const Arena& arena, const NormGain& gain, int64_t width) : weight_(gain.weight) {
    if (weight_ && gain.offset == 0) return;
    own_ = Tensor(arena, 1, width);
    for (int64_t j = 0; j < width; ++j) own_.values()(0, j) = gain.offset + (weight_ ? weight_->numbers()[j] : 0);
  }
  const real* data() const { return own_.empty() ? weight_->numbers() : own_.values().data; }

 private:
  const Weight* weight_;
  Tensor own_;
};

// Calls body(part of x, part of y, index of its first row) for each of the equal parts that rows are cut into. The
// parts of one row stand below one another as they are, so that they are one call.
template <class Body>
void for_each_part(int64_t parts, ConstMatrix x, Matrix y, const Body& body) {
  if (parts == 1) return body(x, y, 0);
  const int64_t width = x.cols / parts;
  if (x.rows == 1) return body(ConstMatrix(x.data, parts, width), Matrix(y.data, parts, width), 0);
  for (int64_t i = 0; i < parts; ++i) body(x.cols_from(i * width, width), y.cols_from(i * width, width), i * x.rows);
}

// The same part of another matrix of x's shape; `part` is the part of x.
ConstMatrix part_of(ConstMatrix other, ConstMatrix part, int64_t first) {
  if (other.cols == part.cols) return other;
  if (other.rows != part.rows) return {other.data, part.rows, part.cols};
  return other.cols_from(first / std::max<int64_t>(other.rows, 1) * part.cols, part.cols);
}

}  // namespace

Tensor layer_norm(Run& run, const Tensor& x, const NormGain& gain, const Weight* bias, real eps, int64_t parts) {
  const bool records = run.records({&x}, {gain.weight, bias});
  Tensor y = run.make(x.rows(), x.cols(), records);
  Tensor statistics(run.arena(), 2, x.rows() * parts);  // mean and rstd of each part of each row
  const GainNumbers gains(run.arena(), gain, x.cols() / parts);
  real *mean = statistics.values().row(0), *rstd = statistics.values().row(1);
  for_each_part(parts, x.values(), y.values(), [&](ConstMatrix from, Matrix to, int64_t first) {
    kernels::layer_norm_forward(from, gains.data(), bias ? bias->numbers() : nullptr, eps, to, mean + first,
                                rstd + first);
  });
  if (records) {
    run.tape()->record([x, y = y.gradient_only(), statistics, gains, weight = gain.weight, bias, parts](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      const ConstMatrix saved = statistics.values();
      const InputGradient dx(tape, x);
      for_each_part(parts, x.values(), dx.view(), [&](ConstMatrix from, Matrix to, int64_t first) {
        kernels::layer_norm_backward(from, gains.data(), saved.row(0) + first, saved.row(1) + first,
                                     part_of(dy, from, first), to, dx.accumulate(), gradient_of(tape, weight),
                                     gradient_of(tape, bias));
      });
    });
  }
  return y;
}

Tensor rms_norm(Run& run, const Tensor& x, const NormGain& gain, real eps, int64_t parts) {
  const bool records = run.records({&x}, {gain.weight});
  Tensor y = run.make(x.rows(), x.cols(), records);
  Tensor rstd(run.arena(), 1, x.rows() * parts);
  const GainNumbers gains(run.arena(), gain, x.cols() / parts);
  for_each_part(parts, x.values(), y.values(), [&](ConstMatrix from, Matrix to, int64_t first) {
    kernels::rms_norm_forward(from, gains.data(), eps, to, rstd.values().data + first);
  });
  if (records) {
    run.tape()->record([x, y = y.gradient_only(), rstd, gains, weight = gain.weight, parts](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      const InputGradient dx(tape, x);
      for_each_part(parts, x.values(), dx.view(), [&](ConstMatrix from, Matrix to, int64_t first) {
        kernels::rms_norm_backward(from, gains.data(), rstd.values().data + first, part_of(dy, from, first), to,
                                   dx.accumulate(), gradient_of(tape, weight));
      });
    });
  }
  return y;
}

Tensor norm_scale(Run& run, const Tensor& x, NormKind kind, real eps) {
  const bool records = run.records({&x}), centered = kind == NormKind::layer;
  Tensor scale = run.make(x.rows(), 1, records);  // (T, 1)
  kernels::norm_scale_forward(centered, x.values(), eps, scale.values());
  if (records) {
    run.tape()->record([x, scale, centered](Tape& tape) {
      const ConstMatrix dscale = tape.grad(scale);
      if (dscale.rows == 0) return;
      const GradientTarget dx = tape.grad_out(x);
      kernels::norm_scale_backward(centered, x.values(), scale.values(), dscale, dx.view, dx.accumulate);
    });
  }
  return scale;
}

Tensor normalize_by(Run& run, const Tensor& x, const Tensor& scale, NormKind kind, const NormGain& gain,
                    const Weight* bias) {
  const bool records = run.records({&x, &scale}, {gain.weight, bias}), centered = kind == NormKind::layer;
  Tensor y = run.make(x.rows(), x.cols(), records);
  const GainNumbers gains(run.arena(), gain, x.cols());
  kernels::normalize_forward(centered, x.values(), scale.values(), gains.data(), bias ? bias->numbers() : nullptr,
                             y.values());
  if (records) {
    run.tape()->record([x, scale, y = y.gradient_only(), centered, gains, weight = gain.weight, bias](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      const Matrix dx = x.needs_gradient() ? tape.grad_out_to_add(x) : Matrix{};
      const Matrix dscale = scale.needs_gradient() ? tape.grad_out_to_add(scale) : Matrix{};
      kernels::normalize_backward(centered, x.values(), scale.values(), gains.data(), dy, dx, dscale,
                                  gradient_of(tape, weight), gradient_of(tape, bias));
    });
  }
  return y;
}

Tensor batch_norm(Run& run, const Tensor& x, const Weight& gain, const Weight& bias, const BatchStatistics& running,
                  real eps) {
  const bool records = run.records({&x}, {&gain, &bias});
  const bool from_batch = run.train();
  Tensor y = run.make(x.rows(), x.cols(), records);
  Tensor statistics(run.arena(), 2, x.cols());  // mean and variance of each column
  real *mean = statistics.values().row(0), *variance = statistics.values().row(1);
  if (from_batch) {
    kernels::batch_statistics(x.values(), mean, variance);
  } else {
    std::copy_n(running.mean->numbers(), x.cols(), mean);
    std::copy_n(running.variance->numbers(), x.cols(), variance);
  }
  kernels::batch_norm_forward(x.values(), gain.numbers(), bias.numbers(), mean, variance, eps, y.values());
  if (!records) return y;
  if (from_batch) {  // running = 0.9·running + 0.1·batch, with the unbiased variance, as PyTorch does
    const real count = static_cast<real>(x.rows());
    const real unbiased = x.rows() > 1 ? count / (count - 1) : 1;
    for (const auto& [weight, values, factor] :
         {std::tuple{running.mean, mean, real{1}}, std::tuple{running.variance, variance, unbiased}}) {
      StatisticsUpdate update{weight, std::vector<real>(weight->numbers(), weight->numbers() + weight->size())};
      for (int64_t j = 0; j < x.cols(); ++j)
        update.values[j] += static_cast<real>(0.1) * (factor * values[j] - update.values[j]);
      run.tape()->statistics().push_back(std::move(update));
    }
  }
  run.tape()->record([x, y = y.gradient_only(), statistics, &gain, &bias, eps, from_batch](Tape& tape) {
    const ConstMatrix dy = tape.grad(y);
    if (dy.rows == 0) return;
    const ConstMatrix saved = statistics.values();
    const InputGradient dx(tape, x);
    kernels::batch_norm_backward(x.values(), gain.numbers(), saved.row(0), saved.row(1), eps, from_batch, dy, dx.view(),
                                 dx.accumulate(), gradient_of(tape, &gain), gradient_of(tape, &bias));
  });
  return y;
}

}  // namespace limpid
