#include <cmath>

#include "kernels/norm.h"
#include "kernels/row_partials.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/batch_norm.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

// sums += x, or (x - mean)² where mean is given, over the rows [begin, end)
void sum_columns(int64_t begin, int64_t end, ConstMatrix x, const real* mean, real* sums) {
  for (int64_t i = begin; i < end; ++i) {
    const real* row = x.row(i);
    for_each_vector(x.cols, [&](int64_t j, auto part) HWY_ATTR {
      const RealVec v = part.load(row + j);
      const RealVec deviation = mean != nullptr ? hn::Sub(v, part.load(mean + j)) : v;
      const RealVec term = mean != nullptr ? hn::Mul(deviation, deviation) : v;
      part.store(hn::Add(part.load(sums + j), term), sums + j);
    });
  }
}

// dgain += dy·x̂;  dbias += dy, over the rows [begin, end), with x̂ = (x - mean)·scale
void sum_column_gradients(int64_t begin, int64_t end, ConstMatrix x, const real* mean, const real* scale,
                          ConstMatrix dy, real* dgain, real* dbias) {
  for (int64_t i = begin; i < end; ++i) {
    for_each_vector(x.cols, [&](int64_t j, auto part) HWY_ATTR {
      const RealVec normal = hn::Mul(hn::Sub(part.load(x.row(i) + j), part.load(mean + j)), part.load(scale + j));
      const RealVec gradient = part.load(dy.row(i) + j);
      part.store(hn::MulAdd(gradient, normal, part.load(dgain + j)), dgain + j);
      part.store(hn::Add(gradient, part.load(dbias + j)), dbias + j);
    });
  }
}

// y (+)= a·u + b·(x - mean) + c, over the rows [begin, end): all of mean, a, b, c belong to columns. Without u: a is
// none.
void combine_columns(int64_t begin, int64_t end, const real* a, ConstMatrix u, const real* b, ConstMatrix x,
                     const real* mean, const real* c, Matrix y, bool accumulate) {
  for (int64_t i = begin; i < end; ++i) {
    for_each_vector(x.cols, [&](int64_t j, auto part) HWY_ATTR {
      const RealVec deviation = hn::Sub(part.load(x.row(i) + j), part.load(mean + j));
      RealVec v = hn::MulAdd(part.load(b + j), deviation, part.load(c + j));
      if (u.data != nullptr) v = hn::MulAdd(part.load(a + j), part.load(u.row(i) + j), v);
      if (accumulate) v = hn::Add(part.load(y.row(i) + j), v);
      part.store(v, y.row(i) + j);
    });
  }
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(sum_columns);
HWY_EXPORT(sum_column_gradients);
HWY_EXPORT(combine_columns);

namespace kernels {
namespace {

// result = mean over the rows of x, or of (x - mean)² where mean is given
void column_means(ConstMatrix x, const real* mean, real* result) {
  RowPartials partials(x.rows, x.cols, x.cols);
  partials.fill([&](int64_t begin, int64_t end, real* sums) {
    HWY_DYNAMIC_DISPATCH(sum_columns)(begin, end, x, mean, sums);
  });
  std::fill_n(result, x.cols, real(0));
  partials.add_to(0, x.cols, result);
  for (int64_t j = 0; j < x.cols; ++j) result[j] /= static_cast<real>(x.rows);
}

std::vector<real> scales(const real* variance, real eps, int64_t cols) {
  std::vector<real> scale(cols);
  for (int64_t j = 0; j < cols; ++j) scale[j] = 1 / std::sqrt(variance[j] + eps);
  return scale;
}

}  // namespace

void batch_statistics(ConstMatrix x, real* mean, real* variance) {
  column_means(x, nullptr, mean);
  column_means(x, mean, variance);
}

void batch_norm_forward(ConstMatrix x, const real* gain, const real* bias, const real* mean, const real* variance,
                        real eps, Matrix y) {
  std::vector<real> factor = scales(variance, eps, x.cols);
  for (int64_t j = 0; j < x.cols; ++j) factor[j] *= gain[j];
  parallel_ranges(x.rows, RowPartials::grain_rows(x.cols), [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(combine_columns)(begin, end, nullptr, {}, factor.data(), x, mean, bias, y, false);
  });
}

// dx (+)= gain·scale·(dy - mean(dy) - x̂·mean(dy·x̂)), the means over the rows; where mean and variance are constants
// only gain·scale·dy remains.
void batch_norm_backward(ConstMatrix x, const real* gain, const real* mean, const real* variance, real eps,
                         bool from_batch, ConstMatrix dy, Matrix dx, bool accumulate, real* dgain, real* dbias) {
  const int64_t cols = x.cols;
  const std::vector<real> scale = scales(variance, eps, cols);
  RowPartials partials(x.rows, cols, 2 * cols);
  partials.fill([&](int64_t begin, int64_t end, real* sums) {
    HWY_DYNAMIC_DISPATCH(sum_column_gradients)(begin, end, x, mean, scale.data(), dy, sums, sums + cols);
  });
  std::vector<real> sums(2 * cols), of_gradient(cols), of_deviation(cols), constant(cols);
  partials.add_to(0, 2 * cols, sums.data());
  for (int64_t j = 0; j < cols; ++j) {
    const real per_row = from_batch ? 1 / static_cast<real>(x.rows) : 0;
    of_gradient[j] = gain[j] * scale[j];
    of_deviation[j] = -of_gradient[j] * scale[j] * sums[j] * per_row;
    constant[j] = -of_gradient[j] * sums[cols + j] * per_row;
    if (dgain != nullptr) dgain[j] += sums[j];
    if (dbias != nullptr) dbias[j] += sums[cols + j];
  }
  parallel_ranges(x.rows, RowPartials::grain_rows(cols), [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(combine_columns)
    (begin, end, of_gradient.data(), dy, of_deviation.data(), x, mean, constant.data(), dx, accumulate);
  });
}

}  // namespace kernels
}  // namespace limpid
#endif  // HWY_ONCE
