// Layer norm and RMS norm in two steps, for those who look at the scale between them.

#include "kernels/norm.h"

#include <cmath>

#include "kernels/row_partials.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm_steps.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

real mean_of(bool centered, const real* x, int64_t n) {
  if (!centered) return 0;
  RealVec sum = hn::Zero(Reals());
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR { sum = hn::Add(sum, part.load(x + j)); });
  return sum_lanes(Reals(), sum) / static_cast<real>(n);
}

void scale_rows_of(bool centered, ConstMatrix x, real eps, Matrix scale) {
  const Reals d;
  for (int64_t i = 0; i < x.rows; ++i) {
    const auto mean = hn::Set(d, mean_of(centered, x.row(i), x.cols));
    RealVec squares = hn::Zero(d);
    for_each_vector(x.cols, [&](int64_t j, auto part) HWY_ATTR {
      const RealVec deviation = part.zero_rest(hn::Sub(part.load(x.row(i) + j), mean));
      squares = hn::MulAdd(deviation, deviation, squares);
    });
    scale(i, 0) = std::sqrt(sum_lanes(d, squares) / static_cast<real>(x.cols) + eps);
  }
}

void scale_backward_rows(bool centered, ConstMatrix x, ConstMatrix scale, ConstMatrix dscale, Matrix dx,
                         bool accumulate) {
  const Reals d;
  for (int64_t i = 0; i < x.rows; ++i) {
    const auto mean = hn::Set(d, mean_of(centered, x.row(i), x.cols));
    const auto factor = hn::Set(d, dscale(i, 0) / (static_cast<real>(x.cols) * scale(i, 0)));
    for_each_vector(x.cols, [&](int64_t j, auto part) HWY_ATTR {
      put(part, accumulate, hn::Mul(factor, hn::Sub(part.load(x.row(i) + j), mean)), dx.row(i) + j);
    });
  }
}

void divide_rows(bool centered, ConstMatrix x, ConstMatrix scale, const real* gain, const real* bias, Matrix y) {
  const Reals d;
  for (int64_t i = 0; i < x.rows; ++i) {
    const auto mean = hn::Set(d, mean_of(centered, x.row(i), x.cols)), divisor = hn::Set(d, scale(i, 0));
    for_each_vector(x.cols, [&](int64_t j, auto part) HWY_ATTR {
      const RealVec normal = hn::Div(hn::Sub(part.load(x.row(i) + j), mean), divisor);
      const RealVec b = bias ? part.load(bias + j) : hn::Zero(d);
      part.store(hn::MulAdd(normal, part.load(gain + j), b), y.row(i) + j);
    });
  }
}

// Rows [begin, end). Where dx or dscale has no data, nobody wants it; sums hold dgain, then dbias.
void divide_backward_rows(int64_t begin, int64_t end, bool centered, ConstMatrix x, ConstMatrix scale, const real* gain,
                          ConstMatrix dy, Matrix dx, Matrix dscale, real* sums) {
  const Reals d;
  const int64_t n = x.cols;
  for (int64_t i = begin; i < end; ++i) {
    const auto mean = hn::Set(d, mean_of(centered, x.row(i), n)), divisor = hn::Set(d, scale(i, 0));
    RealVec sum = hn::Zero(d), by_normal = hn::Zero(d);  // of t = gain·dy, and of t times what was normalised
    for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
      const RealVec normal = hn::Div(hn::Sub(part.load(x.row(i) + j), mean), divisor);
      const RealVec gradient = part.load(dy.row(i) + j);  // zero beyond the row, and so is all that it multiplies
      const RealVec t = hn::Mul(part.load(gain + j), gradient);
      sum = hn::Add(sum, t);
      by_normal = hn::MulAdd(t, normal, by_normal);
      if (!sums) return;
      part.store(hn::MulAdd(gradient, normal, part.load(sums + j)), sums + j);
      part.store(hn::Add(gradient, part.load(sums + n + j)), sums + n + j);
    });
    if (dscale.data) dscale(i, 0) -= sum_lanes(d, by_normal) / scale(i, 0);
    if (!dx.data) continue;
    const auto taken = hn::Set(d, centered ? sum_lanes(d, sum) / static_cast<real>(n) : 0);
    for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
      const RealVec t = hn::Mul(part.load(gain + j), part.load(dy.row(i) + j));
      part.store(hn::Add(part.load(dx.row(i) + j), hn::Div(hn::Sub(t, taken), divisor)), dx.row(i) + j);
    });
  }
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(scale_rows_of);
HWY_EXPORT(scale_backward_rows);
HWY_EXPORT(divide_rows);
HWY_EXPORT(divide_backward_rows);

namespace kernels {

void norm_scale_forward(bool centered, ConstMatrix x, real eps, Matrix scale) {
  parallel_ranges(x.rows, RowPartials::grain_rows(x.cols), [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(scale_rows_of)
    (centered, x.rows_from(begin, end - begin), eps, scale.rows_from(begin, end - begin));
  });
}

void norm_scale_backward(bool centered, ConstMatrix x, ConstMatrix scale, ConstMatrix dscale, Matrix dx,
                         bool accumulate) {
  parallel_ranges(x.rows, RowPartials::grain_rows(x.cols), [&](int64_t begin, int64_t end) {
    const int64_t count = end - begin;
    HWY_DYNAMIC_DISPATCH(scale_backward_rows)
    (centered, x.rows_from(begin, count), scale.rows_from(begin, count), dscale.rows_from(begin, count),
     dx.rows_from(begin, count), accumulate);
  });
}

void normalize_forward(bool centered, ConstMatrix x, ConstMatrix scale, const real* gain, const real* bias, Matrix y) {
  parallel_ranges(x.rows, RowPartials::grain_rows(x.cols), [&](int64_t begin, int64_t end) {
    const int64_t count = end - begin;
    HWY_DYNAMIC_DISPATCH(divide_rows)
    (centered, x.rows_from(begin, count), scale.rows_from(begin, count), gain, bias, y.rows_from(begin, count));
  });
}

void normalize_backward(bool centered, ConstMatrix x, ConstMatrix scale, const real* gain, ConstMatrix dy, Matrix dx,
                        Matrix dscale, real* dgain, real* dbias) {
  const bool parameters = dgain != nullptr || dbias != nullptr;
  RowPartials partials(x.rows, x.cols, parameters ? 2 * x.cols : 0);
  partials.fill([&](int64_t begin, int64_t end, real* sums) {
    HWY_DYNAMIC_DISPATCH(divide_backward_rows)
    (begin, end, centered, x, scale, gain, dy, dx, dscale, parameters ? sums : nullptr);
  });
  if (dgain != nullptr) partials.add_to(0, x.cols, dgain);
  if (dbias != nullptr) partials.add_to(x.cols, x.cols, dbias);
}

}  // namespace kernels
}  // namespace limpid
#endif  // HWY_ONCE
