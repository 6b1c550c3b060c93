#include "kernels/dropout.h"

#include "kernels/elementwise.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

// y = base + drop(x), where index is that of x[0]; without base: y = drop(x)
void dropout_stretch(const Dropout& dropout, uint64_t index, const real* base, const real* x, real* y, int64_t n) {
  const Reals d;
  const DropoutMask mask(dropout);
  if (base == nullptr) {
    for_each_vector(
        n, [&](int64_t j, auto part) HWY_ATTR { part.store(mask.apply(d, index + j, part.load(x + j)), y + j); });
  } else {
    for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
      part.store(hn::Add(part.load(base + j), mask.apply(d, index + j, part.load(x + j))), y + j);
    });
  }
}

// y = base + x; without base: y = x
void add_stretch(const real* base, const real* x, real* y, int64_t n) {
  if (base == nullptr) {
    if (x != y) std::copy_n(x, n, y);
  } else {
    for_each_vector(
        n, [&](int64_t j, auto part) HWY_ATTR { part.store(hn::Add(part.load(base + j), part.load(x + j)), y + j); });
  }
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(dropout_stretch);
HWY_EXPORT(add_stretch);

namespace kernels {

void dropout_forward(const Dropout& dropout, ConstMatrix residual, ConstMatrix x, Matrix y) {
  const bool add = residual.data != nullptr;
  const bool flat = x.contiguous() && y.contiguous() && (!add || residual.contiguous());
  parallel_elements(x.rows, x.cols, flat, [&](int64_t i, int64_t j, int64_t n) {
    const real* base = add ? residual.row(i) + j : nullptr;
    if (dropout.rate > 0) {
      HWY_DYNAMIC_DISPATCH(dropout_stretch)(dropout, i * x.cols + j, base, x.row(i) + j, y.row(i) + j, n);
    } else {
      HWY_DYNAMIC_DISPATCH(add_stretch)(base, x.row(i) + j, y.row(i) + j, n);
    }
  });
}

void dropout_backward(const Dropout& dropout, ConstMatrix dy, Matrix dx, bool accumulate) {
  dropout_forward(dropout, accumulate ? ConstMatrix(dx) : ConstMatrix(), dy, dx);
}

}  // namespace kernels
}  // namespace limpid
#endif  // HWY_ONCE
