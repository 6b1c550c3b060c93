// Normalisation. Letters: T tokens, d features.

#include <cmath>

#include "autograd/ops.h"
#include "kernels/norm.h"

namespace limpid {
namespace {

real* gradient_of(Tape& tape, const Weight* weight) {
  return weight && tape.wants(*weight) ? tape.gradients().open_to_add(*weight) : nullptr;
}

// Runs a backward kernel that needs somewhere to write dx even where nobody wants it.
template <class Kernel>
void with_target(Tape& tape, const Tensor& x, Kernel kernel) {
  if (x.needs_gradient()) {
    const GradientTarget dx = tape.grad_out(x);
    kernel(dx.view, dx.accumulate);
  } else {
    Tensor unused(tape.arena(), x.rows(), x.cols());
    kernel(unused.values(), false);
  }
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

real mean_of_row(const real* row, int64_t cols) {
  real sum = 0;
  for (int64_t j = 0; j < cols; ++j) sum += row[j];
  return sum / static_cast<real>(cols);
}

real mean_for(NormKind kind, const real* row, int64_t cols) {
  return kind == NormKind::layer ? mean_of_row(row, cols) : 0;
}

}  // namespace

Tensor layer_norm(Run& run, const Tensor& x, const NormGain& gain, const Weight* bias, real eps, int64_t parts) {
  const bool records = run.records({&x}, {gain.weight, bias});
  Tensor y = run.make(x.rows(), x.cols(), records);
  Tensor statistics(run.arena(), 2, x.rows() * parts);  // mean and scale of each part of each row
  const GainNumbers gains(run.arena(), gain, x.cols() / parts);
  real *mean = statistics.values().row(0), *scale = statistics.values().row(1);
  for_each_part(parts, x.values(), y.values(), [&](ConstMatrix from, Matrix to, int64_t first) {
    kernels::layer_norm_forward(from, gains.data(), bias ? bias->numbers() : nullptr, eps, to, mean + first,
                                scale + first);
  });
  if (records) {
    run.tape()->record([x, y = y.gradient_only(), statistics, gains, weight = gain.weight, bias, parts](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      const ConstMatrix saved = statistics.values();
      with_target(tape, x, [&](Matrix dx, bool accumulate) {
        for_each_part(parts, x.values(), dx, [&](ConstMatrix from, Matrix to, int64_t first) {
          kernels::layer_norm_backward(from, gains.data(), saved.row(0) + first, saved.row(1) + first,
                                       part_of(dy, from, first), to, accumulate, gradient_of(tape, weight),
                                       gradient_of(tape, bias));
        });
      });
    });
  }
  return y;
}

Tensor rms_norm(Run& run, const Tensor& x, const NormGain& gain, real eps, int64_t parts) {
  const bool records = run.records({&x}, {gain.weight});
  Tensor y = run.make(x.rows(), x.cols(), records);
  Tensor scale(run.arena(), 1, x.rows() * parts);
  const GainNumbers gains(run.arena(), gain, x.cols() / parts);
  for_each_part(parts, x.values(), y.values(), [&](ConstMatrix from, Matrix to, int64_t first) {
    kernels::rms_norm_forward(from, gains.data(), eps, to, scale.values().data + first);
  });
  if (records) {
    run.tape()->record([x, y = y.gradient_only(), scale, gains, weight = gain.weight, parts](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      with_target(tape, x, [&](Matrix dx, bool accumulate) {
        for_each_part(parts, x.values(), dx, [&](ConstMatrix from, Matrix to, int64_t first) {
          kernels::rms_norm_backward(from, gains.data(), scale.values().data + first, part_of(dy, from, first), to,
                                     accumulate, gradient_of(tape, weight));
        });
      });
    });
  }
  return y;
}

// scale = √(mean((x - mean)²) + eps); with RMS norm the mean is left at zero
Tensor norm_scale(Run& run, const Tensor& x, NormKind kind, real eps) {
  const bool records = run.records({&x});
  Tensor scale = run.make(x.rows(), 1, records);  // (T, 1)
  const real count = static_cast<real>(x.cols());
  for (int64_t i = 0; i < x.rows(); ++i) {
    const real* row = x.values().row(i);
    const real mean = mean_for(kind, row, x.cols());
    real sum = 0;
    for (int64_t j = 0; j < x.cols(); ++j) sum += (row[j] - mean) * (row[j] - mean);
    scale.values()(i, 0) = std::sqrt(sum / count + eps);
  }
  if (records) {
    run.tape()->record([x, scale, kind, count](Tape& tape) {
      const ConstMatrix dscale = tape.grad(scale);
      if (dscale.rows == 0) return;
      const Matrix dx = tape.grad_out_to_add(x);
      for (int64_t i = 0; i < dx.rows; ++i) {  // dx += dscale·(x - mean)/(d·scale)
        const real* row = x.values().row(i);
        const real mean = mean_for(kind, row, dx.cols), factor = dscale(i, 0) / (count * scale.values()(i, 0));
        for (int64_t j = 0; j < dx.cols; ++j) dx(i, j) += factor * (row[j] - mean);
      }
    });
  }
  return scale;
}

// y = gain·(x - mean)/scale + bias
Tensor normalize_by(Run& run, const Tensor& x, const Tensor& scale, NormKind kind, const NormGain& gain,
                    const Weight* bias) {
  const bool records = run.records({&x, &scale}, {gain.weight, bias});
  Tensor y = run.make(x.rows(), x.cols(), records);
  const GainNumbers gains(run.arena(), gain, x.cols());
  const real* g = gains.data();
  for (int64_t i = 0; i < x.rows(); ++i) {
    const real* row = x.values().row(i);
    const real mean = mean_for(kind, row, x.cols()), divisor = scale.values()(i, 0);
    for (int64_t j = 0; j < x.cols(); ++j)
      y.values()(i, j) = g[j] * (row[j] - mean) / divisor + (bias ? bias->numbers()[j] : 0);
  }
  if (records) {
    run.tape()->record([x, scale, y = y.gradient_only(), kind, gains, weight = gain.weight, bias](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      real *dgain = gradient_of(tape, weight), *dbias = gradient_of(tape, bias);
      const Matrix dx = x.needs_gradient() ? tape.grad_out_to_add(x) : Matrix{};
      const Matrix dscale = scale.needs_gradient() ? tape.grad_out_to_add(scale) : Matrix{};
      const real* weights = gains.data();
      for (int64_t i = 0; i < dy.rows; ++i) {
        const real* row = x.values().row(i);
        const real mean = mean_for(kind, row, dy.cols), divisor = scale.values()(i, 0);
        real sum = 0;  // of gain·dy, what the mean takes back
        real by_scale = 0;
        for (int64_t j = 0; j < dy.cols; ++j) {
          const real centred = row[j] - mean;
          sum += weights[j] * dy(i, j);
          by_scale -= weights[j] * dy(i, j) * centred / (divisor * divisor);
          if (dgain) dgain[j] += dy(i, j) * centred / divisor;
          if (dbias) dbias[j] += dy(i, j);
        }
        const real taken = kind == NormKind::layer ? sum / static_cast<real>(dy.cols) : 0;
        if (dx.data)
          for (int64_t j = 0; j < dy.cols; ++j) dx(i, j) += (weights[j] * dy(i, j) - taken) / divisor;
        if (dscale.data) dscale(i, 0) += by_scale;
      }
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
    with_target(tape, x, [&](Matrix dx, bool accumulate) {
      kernels::batch_norm_backward(x.values(), gain.numbers(), saved.row(0), saved.row(1), eps, from_batch, dy, dx,
                                   accumulate, gradient_of(tape, &gain), gradient_of(tape, &bias));
    });
  });
  return y;
}

}  // namespace limpid
