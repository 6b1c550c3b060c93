#include "kernels/activation.h"

#include <type_traits>

#include "kernels/elementwise.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation.cpp"
#include <hwy/foreach_target.h>

#include "kernels/activation-inl.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

// What falls on a vector of numbers, the first of which has that index: nothing, a dropout mask, or only its scale.
struct NoDropout {
  HWY_INLINE RealVec apply(Reals, uint64_t, RealVec v) const { return v; }
};
struct ScaleOnly {
  real scale;
  HWY_INLINE RealVec apply(Reals d, uint64_t, RealVec v) const { return hn::Mul(v, hn::Set(d, scale)); }
};

// Calls call(drop) with what the dropout asks for.
template <class Call>
HWY_INLINE void with_dropout(const Dropout& dropout, const Call& call) {
  if (dropout.rate > 0) {
    call(DropoutMask(dropout));
  } else {
    call(NoDropout());
  }
}

// The stretches: n numbers, the first of which has `index` in the dropout's mask.

void forward_stretch(Activation f, const Dropout& dropout, uint64_t index, int64_t n, const real* x, real* y) {
  with_activation(f, [&](auto function) HWY_ATTR {
    with_dropout(dropout, [&](const auto drop) HWY_ATTR {
      for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
        part.store(drop.apply(Reals(), index + j, function.value(part.load(x + j))), y + j);
      });
    });
  });
}

// y = drop(f(x)):  dx = f'(x)·drop(dy)
void backward_stretch(Activation f, const Dropout& dropout, uint64_t index, int64_t n, const real* saved,
                      const real* dy, real* dx, bool accumulate) {
  with_activation(f, [&](auto function) HWY_ATTR {
    const auto loop = [&](const auto drop) HWY_ATTR {
      for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
        const RealVec dropped = drop.apply(Reals(), index + j, part.load(dy + j));
        put(part, accumulate, function.times_slope(part.load(saved + j), dropped), dx + j);
      });
    };
    if (std::is_same_v<decltype(function), Relu> && dropout.rate > 0) {
      loop(ScaleOnly{dropout_scale(dropout.rate)});  // a dropped y is zero: its slope is zero without the mask
    } else {
      with_dropout(dropout, loop);
    }
  });
}

void gated_forward_stretch(Activation f, const Dropout& dropout, uint64_t index, int64_t n, const real* gate,
                           const real* up, real* y) {
  with_activation(f, [&](auto function) HWY_ATTR {
    with_dropout(dropout, [&](const auto drop) HWY_ATTR {
      for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
        const RealVec product = hn::Mul(function.value(part.load(gate + j)), part.load(up + j));
        part.store(drop.apply(Reals(), index + j, product), y + j);
      });
    });
  });
}

// y = drop(f(gate)·up):  dgate = f'(gate)·up·drop(dy);  dup = f(gate)·drop(dy)
void gated_backward_stretch(Activation f, const Dropout& dropout, uint64_t index, int64_t n, const real* gate,
                            const real* up, const real* dy, real* dgate, bool accumulate_gate, real* dup,
                            bool accumulate_up) {
  with_activation(f, [&](auto function) HWY_ATTR {
    with_dropout(dropout, [&](const auto drop) HWY_ATTR {
      for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
        const RealVec dropped = drop.apply(Reals(), index + j, part.load(dy + j));
        const auto [value, slope] = function.value_and_slope(part.load(gate + j));
        const RealVec through_gate = hn::Mul(hn::Mul(slope, part.load(up + j)), dropped);
        put(part, accumulate_up, hn::Mul(value, dropped), dup + j);
        put(part, accumulate_gate, through_gate, dgate + j);
      });
    });
  });
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(forward_stretch);
HWY_EXPORT(backward_stretch);
HWY_EXPORT(gated_forward_stretch);
HWY_EXPORT(gated_backward_stretch);

namespace kernels {

void activation_forward(Activation f, const Dropout& dropout, ConstMatrix x, Matrix y) {
  const auto stretch = HWY_DYNAMIC_DISPATCH(forward_stretch);
  parallel_elements(x.rows, x.cols, x.contiguous() && y.contiguous(), [&](int64_t i, int64_t j, int64_t n) {
    stretch(f, dropout, i * x.cols + j, n, &x(i, j), &y(i, j));
  });
}

void activation_backward(Activation f, const Dropout& dropout, ConstMatrix saved, ConstMatrix dy, Matrix dx,
                         bool accumulate) {
  const auto stretch = HWY_DYNAMIC_DISPATCH(backward_stretch);
  const bool flat = saved.contiguous() && dy.contiguous() && dx.contiguous();
  parallel_elements(dy.rows, dy.cols, flat, [&](int64_t i, int64_t j, int64_t n) {
    stretch(f, dropout, i * dy.cols + j, n, &saved(i, j), &dy(i, j), &dx(i, j), accumulate);
  });
}

void gated_activation_forward(Activation f, const Dropout& dropout, ConstMatrix gate, ConstMatrix up, Matrix y) {
  const auto stretch = HWY_DYNAMIC_DISPATCH(gated_forward_stretch);
  const bool flat = gate.contiguous() && up.contiguous() && y.contiguous();
  parallel_elements(y.rows, y.cols, flat, [&](int64_t i, int64_t j, int64_t n) {
    stretch(f, dropout, i * y.cols + j, n, &gate(i, j), &up(i, j), &y(i, j));
  });
}

void gated_activation_backward(Activation f, const Dropout& dropout, ConstMatrix gate, ConstMatrix up, ConstMatrix dy,
                               Matrix dgate, bool accumulate_gate, Matrix dup, bool accumulate_up) {
  const auto stretch = HWY_DYNAMIC_DISPATCH(gated_backward_stretch);
  const bool flat = gate.contiguous() && up.contiguous() && dy.contiguous() && dgate.contiguous() && dup.contiguous();
  parallel_elements(dy.rows, dy.cols, flat, [&](int64_t i, int64_t j, int64_t n) {
    stretch(f, dropout, i * dy.cols + j, n, &gate(i, j), &up(i, j), &dy(i, j), &dgate(i, j), accumulate_gate,
            &dup(i, j), accumulate_up);
  });
}

}  // namespace kernels
}  // namespace limpid
#endif  // HWY_ONCE
