// The activation functions on vectors, compiled once for each instruction set. Each type has
//   value(x)            f(x)
//   value_and_slope(x)  f(x) and f'(x)
//   times_slope(s, dy)  f'(x)·dy, where s is what forward saved: f(x) for relu and tanh, else x
#if defined(LIMPID_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_KERNELS_ACTIVATION_INL_H_
#undef LIMPID_KERNELS_ACTIVATION_INL_H_
#else
#define LIMPID_KERNELS_ACTIVATION_INL_H_
#endif

#include <cmath>
#include <numbers>

#include "kernels/activation.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

struct ValueAndSlope {
  RealVec value, slope;
};

HWY_INLINE RealVec reals(double x) { return hn::Set(Reals(), static_cast<real>(x)); }

struct Identity {
  HWY_INLINE RealVec value(RealVec x) const { return x; }
  HWY_INLINE ValueAndSlope value_and_slope(RealVec x) const { return {x, reals(1)}; }
  HWY_INLINE RealVec times_slope(RealVec, RealVec dy) const { return dy; }
};

struct Relu {
  HWY_INLINE RealVec value(RealVec x) const { return at_least(Reals(), x, 0); }
  HWY_INLINE ValueAndSlope value_and_slope(RealVec x) const { return {value(x), times_slope(x, reals(1))}; }
  HWY_INLINE RealVec times_slope(RealVec x_or_y, RealVec dy) const {
    return hn::IfThenElseZero(hn::Gt(x_or_y, reals(0)), dy);
  }
};

struct Tanh {
  HWY_INLINE RealVec value(RealVec x) const { return tanh(Reals(), x); }
  HWY_INLINE ValueAndSlope value_and_slope(RealVec x) const {
    const RealVec y = value(x);
    return {y, hn::NegMulAdd(y, y, reals(1))};
  }
  HWY_INLINE RealVec times_slope(RealVec y, RealVec dy) const { return hn::Mul(dy, hn::NegMulAdd(y, y, reals(1))); }
};

// σ(x) and 1 - σ(x) = e⁻ˣ·σ(x), which keeps its digits where σ is near 1.
struct SigmoidPair {
  RealVec s, rest;
};
HWY_INLINE SigmoidPair sigmoid_pair(RealVec x) {
  const RealVec e = exp(Reals(), hn::Neg(x));
  const RealVec s = hn::Div(reals(1), hn::Add(reals(1), e));
  return {s, hn::Mul(e, s)};
}

// x·σ(x);  f' = σ + f·(1 - σ)
struct Silu {
  HWY_INLINE RealVec value(RealVec x) const { return hn::Mul(x, sigmoid(Reals(), x)); }
  HWY_INLINE ValueAndSlope value_and_slope(RealVec x) const {
    const auto [s, rest] = sigmoid_pair(x);
    const RealVec y = hn::Mul(x, s);
    return {y, hn::MulAdd(y, rest, s)};
  }
  HWY_INLINE RealVec times_slope(RealVec x, RealVec dy) const { return hn::Mul(value_and_slope(x).slope, dy); }
};

// x·σ(ax);  f' = σ + a·f·(1 - σ)
struct QuickGelu {
  static constexpr double kA = 1.702;
  HWY_INLINE RealVec value(RealVec x) const { return hn::Mul(x, sigmoid(Reals(), hn::Mul(reals(kA), x))); }
  HWY_INLINE ValueAndSlope value_and_slope(RealVec x) const {
    const auto [s, rest] = sigmoid_pair(hn::Mul(reals(kA), x));
    const RealVec y = hn::Mul(x, s);
    return {y, hn::MulAdd(hn::Mul(reals(kA), y), rest, s)};
  }
  HWY_INLINE RealVec times_slope(RealVec x, RealVec dy) const { return hn::Mul(value_and_slope(x).slope, dy); }
};

// (1 + tanh u)/2 = σ(2u), so f = x·σ(2u) with 2u = x·(a + b·x²);  f' = σ + f·(1 - σ)·(a + 3b·x²)
struct GeluTanh {
  static constexpr double kA = 1.5957691216057308;  // 2·√(2/π)
  static constexpr double kB = kA * 0.044715;
  HWY_INLINE static RealVec twice_u(RealVec x, RealVec xx) { return hn::Mul(x, hn::MulAdd(xx, reals(kB), reals(kA))); }
  HWY_INLINE RealVec value(RealVec x) const { return hn::Mul(x, sigmoid(Reals(), twice_u(x, hn::Mul(x, x)))); }
  HWY_INLINE ValueAndSlope value_and_slope(RealVec x) const {
    const RealVec xx = hn::Mul(x, x);
    const auto [s, rest] = sigmoid_pair(twice_u(x, xx));
    const RealVec y = hn::Mul(x, s);
    const RealVec slope_of_gate = hn::Mul(rest, hn::MulAdd(xx, reals(3 * kB), reals(kA)));
    return {y, hn::MulAdd(y, slope_of_gate, s)};
  }
  HWY_INLINE RealVec times_slope(RealVec x, RealVec dy) const { return hn::Mul(value_and_slope(x).slope, dy); }
};

// x·Φ(x);  f' = Φ(x) + x·φ(x)
// In float both Φ and f' are 1/2 + x·p(x²), where p is a polynomial over [0, c²], written in u = 2x²/c² - 1 so that its
// terms stay small. The polynomials have the least absolute error (Remez): 3e-8 in Φ, 4e-8 in f'.
struct Gelu {
  HWY_INLINE RealVec value(RealVec x) const {
#ifdef LIMPID_F64
    return hn::Mul(x, each_lane(x, [](double v) { return std::erfc(-v / std::numbers::sqrt2) / 2; }));
#else
    constexpr float kEnd = 5.4f;  // Φ(-5.4) = 3e-8
    constexpr float c[] = {0.1309281126f,   -0.06532805444f,  0.04849959093f,   -0.03920682831f,  0.03211661148f,
                           -0.02574630718f, 0.01964499253f,   -0.01396394109f,  0.009651809967f,  -0.006714107214f,
                           0.00365771751f,  -0.001187566837f, 0.0008760601886f, -0.001027955612f, 0.0003924569439f};
    const RealVec xx = at_most(Reals(), hn::Mul(x, x), kEnd * kEnd);
    const RealVec u = hn::MulAdd(xx, reals(2 / (kEnd * kEnd)), reals(-1));
    const RealVec q = hn::Mul(x, polynomial(Reals(), u, c));  // Φ(x) - 1/2; beyond kEnd it grows over 1/2
    const RealVec bounded = at_most(Reals(), at_least(Reals(), q, -0.5f), 0.5f);
    return hn::MulAdd(x, bounded, hn::Mul(x, reals(0.5)));
#endif
  }

  HWY_INLINE static RealVec slope(RealVec x) {
#ifdef LIMPID_F64
    return each_lane(x, [](double v) {
      const double density = std::exp(-v * v / 2) / std::sqrt(2 * std::numbers::pi);
      return std::erfc(-v / std::numbers::sqrt2) / 2 + v * density;
    });
#else
    constexpr float kEnd = 5.9f;  // f'(-5.9) = -6e-8
    constexpr float c[] = {0.1199112891f,    -0.06046619481f, 0.0472813732f,   -0.04417694695f, 0.04726052679f,
                           -0.0541884833f,   0.06161388981f,  -0.06757878398f, 0.07029806718f,  -0.06179354916f,
                           0.04402713696f,   -0.03967143426f, 0.04259530861f,  -0.02156093033f, -0.001796032372f,
                           -0.002981455108f, 0.01012346463f,  -0.004151479911f};
    const RealVec bounded = at_most(Reals(), at_least(Reals(), x, -kEnd), kEnd);
    const RealVec u = hn::MulAdd(hn::Mul(bounded, bounded), reals(2 / (kEnd * kEnd)), reals(-1));
    return hn::MulAdd(bounded, polynomial(Reals(), u, c), reals(0.5));
#endif
  }
  HWY_INLINE ValueAndSlope value_and_slope(RealVec x) const { return {value(x), slope(x)}; }
  HWY_INLINE RealVec times_slope(RealVec x, RealVec dy) const { return hn::Mul(slope(x), dy); }

 private:
#ifdef LIMPID_F64
  template <class Function>
  HWY_INLINE static RealVec each_lane(RealVec x, const Function& function) {
    HWY_ALIGN double lanes[HWY_MAX_BYTES / sizeof(double)];
    hn::Store(x, Reals(), lanes);
    for (size_t i = 0; i < hn::Lanes(Reals()); ++i) lanes[i] = function(lanes[i]);
    return hn::Load(Reals(), lanes);
  }
#endif
};

// Calls call(function) with the type that f names.
template <class Call>
HWY_INLINE void with_activation(Activation f, const Call& call) {
  switch (f) {
    case Activation::none: return call(Identity());
    case Activation::relu: return call(Relu());
    case Activation::gelu: return call(Gelu());
    case Activation::gelu_tanh: return call(GeluTanh());
    case Activation::silu: return call(Silu());
    case Activation::quick_gelu: return call(QuickGelu());
    case Activation::tanh: return call(Tanh());
  }
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the guard that is toggled
