#include "kernels/adam.h"

#include <cmath>

#include "base/parallel.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adam.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

using kernels::AdamStep;

HWY_INLINE RealVec rounded(double x) { return hn::Set(Reals(), static_cast<real>(x)); }

// PyTorch's order: decay, moments, denominator = √v/√(1-β₂ᵗ) + eps, w -= lr/(1-β₁ᵗ)·m / denominator. What does not
// change from number to number is computed in double.
void adam_range(const AdamStep& o, int64_t count, const real* gradient, real* weight, real* m, real* v) {
  const double t = static_cast<double>(o.step);
  const auto scale = rounded(o.gradient_scale);
  const auto gradient_decay = rounded(o.decoupled ? 0 : o.weight_decay);
  const auto weight_kept = rounded(o.decoupled ? 1 - o.learning_rate * o.weight_decay : 1);
  const auto beta1 = rounded(o.beta1), rest1 = rounded(1 - o.beta1);
  const auto beta2 = rounded(o.beta2), rest2 = rounded(1 - o.beta2);
  const auto step_size = rounded(o.learning_rate / (1 - std::pow(o.beta1, t)));
  const auto correction2 = rounded(1 / std::sqrt(1 - std::pow(o.beta2, t)));
  const auto eps = rounded(o.eps);
  for_each_vector(count, [&](int64_t j, auto part) HWY_ATTR {
    auto w = part.load(weight + j);
    const auto g = hn::MulAdd(gradient_decay, w, hn::Mul(scale, part.load(gradient + j)));
    const auto m_next = hn::MulAdd(rest1, g, hn::Mul(beta1, part.load(m + j)));
    const auto v_next = hn::MulAdd(hn::Mul(rest2, g), g, hn::Mul(beta2, part.load(v + j)));
    const auto denominator = hn::MulAdd(hn::Sqrt(v_next), correction2, eps);
    w = hn::Sub(hn::Mul(weight_kept, w), hn::Div(hn::Mul(step_size, m_next), denominator));
    part.store(m_next, m + j);
    part.store(v_next, v + j);
    part.store(w, weight + j);
  });
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(adam_range);

namespace kernels {
namespace {
constexpr int64_t kRange = 32 * 1024;  // numbers one range updates
}

void adam(const AdamStep& options, int64_t count, const real* gradient, real* weight, real* m, real* v) {
  parallel_ranges(count, kRange, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(adam_range)
    (options, end - begin, gradient + begin, weight + begin, m + begin, v + begin);
  });
}

}  // namespace kernels
}  // namespace limpid
#endif
