#include "kernels/norm.h"

#include <cmath>

#include "kernels/row_partials.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

// Layer norm and RMS norm are one source: RMS norm is layer norm that takes the mean for zero and has no bias.
// Four rows are treated together: their sums are four independent chains of additions, and gain, bias and their
// gradients are fetched once for all four. Each row's own arithmetic is the same alone and among four.

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

constexpr int kTogether = 4;

// y = gain·(x - mean)·rstd + bias for kRows rows from row i on
template <bool kCentered, int kRows>
HWY_INLINE void norm_forward_block(int64_t i, ConstMatrix x, const real* gain, const real* bias, real eps, Matrix y,
                                   real* mean, real* rstd) {
  const Reals d;
  const real inverse = 1 / static_cast<real>(x.cols);
  RealVec sum[kRows], center[kRows], factor[kRows];

  for (int r = 0; r < kRows; ++r) sum[r] = center[r] = hn::Zero(d);
  if constexpr (kCentered) {
    for_each_vector(x.cols, [&](int64_t j, auto part) HWY_ATTR {
      for (int r = 0; r < kRows; ++r) sum[r] = hn::Add(sum[r], part.load(x.row(i + r) + j));
    });
    for (int r = 0; r < kRows; ++r) {
      mean[i + r] = sum_lanes(d, sum[r]) * inverse;
      center[r] = hn::Set(d, mean[i + r]);
      sum[r] = hn::Zero(d);
    }
  }
  for_each_vector(x.cols, [&](int64_t j, auto part) HWY_ATTR {
    for (int r = 0; r < kRows; ++r) {
      const RealVec deviation = part.zero_rest(hn::Sub(part.load(x.row(i + r) + j), center[r]));
      sum[r] = hn::MulAdd(deviation, deviation, sum[r]);
    }
  });
  for (int r = 0; r < kRows; ++r) {
    rstd[i + r] = 1 / std::sqrt(sum_lanes(d, sum[r]) * inverse + eps);
    factor[r] = hn::Set(d, rstd[i + r]);
  }
  for_each_vector(x.cols, [&](int64_t j, auto part) HWY_ATTR {
    const RealVec g = part.load(gain + j);
    const RealVec b = bias ? part.load(bias + j) : hn::Zero(d);
    for (int r = 0; r < kRows; ++r) {
      const RealVec normal = hn::Mul(hn::Sub(part.load(x.row(i + r) + j), center[r]), factor[r]);
      part.store(hn::MulAdd(normal, g, b), y.row(i + r) + j);
    }
  });
}

// With x̂ = (x - mean)·rstd and t = gain·dy, for kRows rows from row i on:
//   dx (+)= rstd·(t - mean(t) - x̂·mean(t·x̂));  dgain += dy·x̂;  dbias += dy, where dgain is given
template <bool kCentered, int kRows>
HWY_INLINE void norm_backward_block(int64_t i, ConstMatrix x, const real* gain, const real* mean, const real* rstd,
                                    ConstMatrix dy, Matrix dx, bool accumulate, real* dgain, real* dbias) {
  const Reals d;
  const real inverse = 1 / static_cast<real>(x.cols);
  RealVec center[kRows], factor[kRows], sum_t[kRows], sum_tx[kRows];
  for (int r = 0; r < kRows; ++r) {
    center[r] = kCentered ? hn::Set(d, mean[i + r]) : hn::Zero(d);
    factor[r] = hn::Set(d, rstd[i + r]);
    sum_t[r] = sum_tx[r] = hn::Zero(d);
  }
  for_each_vector(x.cols, [&](int64_t j, auto part) HWY_ATTR {
    const RealVec g = part.load(gain + j);
    RealVec to_gain = hn::Zero(d), to_bias = hn::Zero(d);
    for (int r = 0; r < kRows; ++r) {
      const RealVec normal = hn::Mul(hn::Sub(part.load(x.row(i + r) + j), center[r]), factor[r]);
      const RealVec gradient = part.load(dy.row(i + r) + j);  // zero beyond the row, and so is all that it multiplies
      const RealVec t = hn::Mul(g, gradient);
      if constexpr (kCentered) sum_t[r] = hn::Add(sum_t[r], t);
      sum_tx[r] = hn::MulAdd(t, normal, sum_tx[r]);
      to_gain = hn::MulAdd(gradient, normal, to_gain);
      to_bias = hn::Add(to_bias, gradient);
    }
    if (dgain != nullptr) {
      part.store(hn::Add(part.load(dgain + j), to_gain), dgain + j);
      if constexpr (kCentered) part.store(hn::Add(part.load(dbias + j), to_bias), dbias + j);
    }
  });
  for (int r = 0; r < kRows; ++r) {
    if constexpr (kCentered) sum_t[r] = hn::Set(d, sum_lanes(d, sum_t[r]) * inverse);
    sum_tx[r] = hn::Set(d, sum_lanes(d, sum_tx[r]) * inverse * rstd[i + r]);
  }
  for_each_vector(x.cols, [&](int64_t j, auto part) HWY_ATTR {
    const RealVec g = part.load(gain + j);
    for (int r = 0; r < kRows; ++r) {
      const RealVec deviation = hn::Sub(part.load(x.row(i + r) + j), center[r]);
      const RealVec rest = hn::MulSub(g, part.load(dy.row(i + r) + j), sum_t[r]);
      RealVec v = hn::Mul(factor[r], hn::NegMulAdd(deviation, sum_tx[r], rest));
      if (accumulate) v = hn::Add(part.load(dx.row(i + r) + j), v);
      part.store(v, dx.row(i + r) + j);
    }
  });
}

// The rows [begin, end); centered: layer norm, else RMS norm.
void norm_forward_rows(bool centered, int64_t begin, int64_t end, ConstMatrix x, const real* gain, const real* bias,
                       real eps, Matrix y, real* mean, real* rstd) {
  const auto rows = [&](auto is_centered) HWY_ATTR {
    int64_t i = begin;
    for (; i + kTogether <= end; i += kTogether) {
      norm_forward_block<is_centered, kTogether>(i, x, gain, bias, eps, y, mean, rstd);
    }
    for (; i < end; ++i) norm_forward_block<is_centered, 1>(i, x, gain, bias, eps, y, mean, rstd);
  };
  centered ? rows(std::true_type()) : rows(std::false_type());
}

void norm_backward_rows(bool centered, int64_t begin, int64_t end, ConstMatrix x, const real* gain, const real* mean,
                        const real* rstd, ConstMatrix dy, Matrix dx, bool accumulate, real* dgain, real* dbias) {
  const auto rows = [&](auto is_centered) HWY_ATTR {
    int64_t i = begin;
    for (; i + kTogether <= end; i += kTogether) {
      norm_backward_block<is_centered, kTogether>(i, x, gain, mean, rstd, dy, dx, accumulate, dgain, dbias);
    }
    for (; i < end; ++i) {
      norm_backward_block<is_centered, 1>(i, x, gain, mean, rstd, dy, dx, accumulate, dgain, dbias);
    }
  };
  centered ? rows(std::true_type()) : rows(std::false_type());
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(norm_forward_rows);
HWY_EXPORT(norm_backward_rows);

namespace kernels {
namespace {

void norm_forward(bool centered, ConstMatrix x, const real* gain, const real* bias, real eps, Matrix y, real* mean,
                  real* rstd) {
  parallel_ranges(x.rows, RowPartials::grain_rows(x.cols), [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(norm_forward_rows)(centered, begin, end, x, gain, bias, eps, y, mean, rstd);
  });
}

void norm_backward(bool centered, ConstMatrix x, const real* gain, const real* mean, const real* rstd, ConstMatrix dy,
                   Matrix dx, bool accumulate, real* dgain, real* dbias) {
  const bool parameters = dgain != nullptr || dbias != nullptr;
  RowPartials partials(x.rows, x.cols, parameters ? 2 * x.cols : 0);
  partials.fill([&](int64_t begin, int64_t end, real* sums) {
    real *to_gain = parameters ? sums : nullptr, *to_bias = parameters ? sums + x.cols : nullptr;
    HWY_DYNAMIC_DISPATCH(norm_backward_rows)
    (centered, begin, end, x, gain, mean, rstd, dy, dx, accumulate, to_gain, to_bias);
  });
  if (dgain != nullptr) partials.add_to(0, x.cols, dgain);
  if (dbias != nullptr) partials.add_to(x.cols, x.cols, dbias);
}

}  // namespace

void layer_norm_forward(ConstMatrix x, const real* gain, const real* bias, real eps, Matrix y, real* mean, real* rstd) {
  norm_forward(true, x, gain, bias, eps, y, mean, rstd);
}

void layer_norm_backward(ConstMatrix x, const real* gain, const real* mean, const real* rstd, ConstMatrix dy, Matrix dx,
                         bool accumulate, real* dgain, real* dbias) {
  norm_backward(true, x, gain, mean, rstd, dy, dx, accumulate, dgain, dbias);
}

void rms_norm_forward(ConstMatrix x, const real* gain, real eps, Matrix y, real* rstd) {
  norm_forward(false, x, gain, nullptr, eps, y, nullptr, rstd);
}

void rms_norm_backward(ConstMatrix x, const real* gain, const real* rstd, ConstMatrix dy, Matrix dx, bool accumulate,
                       real* dgain) {
  norm_backward(false, x, gain, nullptr, rstd, dy, dx, accumulate, dgain, nullptr);
}

}  // namespace kernels
}  // namespace limpid
#endif  // HWY_ONCE
