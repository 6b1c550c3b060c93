#include "kernels/pointwise.h"

#include "kernels/elementwise.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

void multiply_part(const real* a, const real* b, real* y, int64_t n, bool accumulate) {
  for_each_vector(n, [&](int64_t j, auto part)
                         HWY_ATTR { put(part, accumulate, hn::Mul(part.load(a + j), part.load(b + j)), y + j); });
}

void clip_part(const real* x, real limit, real* y, int64_t n) {
  const Reals d;
  for_each_vector(n, [&](int64_t j, auto part)
                         HWY_ATTR { part.store(at_most(d, at_least(d, part.load(x + j), -limit), limit), y + j); });
}

void clip_backward_part(const real* x, real limit, const real* dy, real* dx, int64_t n, bool accumulate) {
  const auto high = hn::Set(Reals(), limit);
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
    const auto within = hn::Le(hn::Abs(part.load(x + j)), high);
    put(part, accumulate, hn::IfThenElseZero(within, part.load(dy + j)), dx + j);
  });
}

void scale_part(const real* x, real factor, real* y, int64_t n, bool accumulate) {
  const auto f = hn::Set(Reals(), factor);
  for_each_vector(n,
                  [&](int64_t j, auto part) HWY_ATTR { put(part, accumulate, hn::Mul(f, part.load(x + j)), y + j); });
}

real dot(const real* a, const real* b, int64_t n) {
  auto sum = hn::Zero(Reals());
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR { sum = hn::MulAdd(part.load(a + j), part.load(b + j), sum); });
  return sum_lanes(Reals(), sum);
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(multiply_part);
HWY_EXPORT(clip_part);
HWY_EXPORT(clip_backward_part);
HWY_EXPORT(scale_part);
HWY_EXPORT(dot);

namespace kernels {

void multiply_elements(ConstMatrix a, ConstMatrix b, Matrix y, bool accumulate) {
  const bool flat = a.contiguous() && b.contiguous() && y.contiguous();
  parallel_elements(y.rows, y.cols, flat, [&](int64_t i, int64_t j, int64_t count) {
    HWY_DYNAMIC_DISPATCH(multiply_part)(a.row(i) + j, b.row(i) + j, y.row(i) + j, count, accumulate);
  });
}

void clip_forward(ConstMatrix x, real limit, Matrix y) {
  parallel_elements(y.rows, y.cols, x.contiguous() && y.contiguous(), [&](int64_t i, int64_t j, int64_t count) {
    HWY_DYNAMIC_DISPATCH(clip_part)(x.row(i) + j, limit, y.row(i) + j, count);
  });
}

void clip_backward(ConstMatrix x, real limit, ConstMatrix dy, Matrix dx, bool accumulate) {
  const bool flat = x.contiguous() && dy.contiguous() && dx.contiguous();
  parallel_elements(dx.rows, dx.cols, flat, [&](int64_t i, int64_t j, int64_t count) {
    HWY_DYNAMIC_DISPATCH(clip_backward_part)
    (x.row(i) + j, limit, dy.row(i) + j, dx.row(i) + j, count, accumulate);
  });
}

void scale_rows(ConstMatrix x, ConstMatrix factors, Matrix y, bool accumulate) {
  parallel_elements(y.rows, y.cols, false, [&](int64_t i, int64_t j, int64_t count) {
    HWY_DYNAMIC_DISPATCH(scale_part)(x.row(i) + j, factors(i, 0), y.row(i) + j, count, accumulate);
  });
}

void add_row_products(ConstMatrix a, ConstMatrix b, Matrix sums) {
  parallel_elements(a.rows, a.cols, false, [&](int64_t i, int64_t, int64_t count) {
    sums(i, 0) += HWY_DYNAMIC_DISPATCH(dot)(a.row(i), b.row(i), count);
  });
}

}  // namespace kernels
}  // namespace limpid
#endif  // HWY_ONCE
