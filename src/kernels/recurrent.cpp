#include "kernels/recurrent.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/recurrent.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

// Each function works on whole rows; the gates of unit j stand at j, H + j, 2H + j, … of their row.
// In every backward the formula differentiated is that of the forward before it; a gradient is called dx for x, and the
// gradient of what goes into σ or tanh is called ax: ar = dr·r·(1-r), an = dn·(1-n²).

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

// p += v
template <class Part>
HWY_INLINE void add_to(const Part& part, real* p, RealVec v) {
  part.store(hn::Add(part.load(p), v), p);
}

// y·(1-y), the derivative of σ where it is y
HWY_INLINE RealVec sigmoid_slope(RealVec y) { return hn::NegMulAdd(y, y, y); }

// 1-y², the derivative of tanh where it is y
HWY_INLINE RealVec tanh_slope(RealVec y) { return hn::NegMulAdd(y, y, hn::Set(Reals(), real(1))); }

void gru_gates_rows(ConstMatrix gx, ConstMatrix gh, Matrix gates) {
  const int64_t units = gates.cols / 3;
  for (int64_t b = 0; b < gates.rows; ++b) {
    const real *x = gx.row(b), *h = gh.row(b);
    real* y = gates.row(b);
    for_each_vector(units, [&](int64_t j, auto part) HWY_ATTR {
      const int64_t jz = units + j, jn = 2 * units + j;
      const auto r = sigmoid(Reals(), hn::Add(part.load(x + j), part.load(h + j)));
      const auto z = sigmoid(Reals(), hn::Add(part.load(x + jz), part.load(h + jz)));
      const auto n = tanh(Reals(), hn::MulAdd(r, part.load(h + jn), part.load(x + jn)));
      part.store(r, y + j);
      part.store(z, y + jz);
      part.store(n, y + jn);
    });
  }
}

void gru_gates_backward_rows(ConstMatrix gates, ConstMatrix gh, ConstMatrix dgates, Matrix dgx, Matrix dgh) {
  const int64_t units = gates.cols / 3;
  for (int64_t b = 0; b < gates.rows; ++b) {
    const real *y = gates.row(b), *h = gh.row(b), *dy = dgates.row(b);
    real *dx = dgx.row(b), *dh = dgh.row(b);
    for_each_vector(units, [&](int64_t j, auto part) HWY_ATTR {
      const int64_t jz = units + j, jn = 2 * units + j;
      const auto r = part.load(y + j), z = part.load(y + jz), n = part.load(y + jn);
      const auto an = hn::Mul(part.load(dy + jn), tanh_slope(n));
      const auto dr = hn::MulAdd(an, part.load(h + jn), part.load(dy + j));
      const auto ar = hn::Mul(dr, sigmoid_slope(r));
      const auto az = hn::Mul(part.load(dy + jz), sigmoid_slope(z));
      add_to(part, dx + j, ar);
      add_to(part, dh + j, ar);
      add_to(part, dx + jz, az);
      add_to(part, dh + jz, az);
      add_to(part, dx + jn, an);
      add_to(part, dh + jn, hn::Mul(an, r));
    });
  }
}

void gru_state_rows(ConstMatrix gates, ConstMatrix h, Matrix h_next) {
  const int64_t units = h.cols;
  for (int64_t b = 0; b < h.rows; ++b) {
    const real *y = gates.row(b), *hb = h.row(b);
    real* next = h_next.row(b);
    for_each_vector(units, [&](int64_t j, auto part) HWY_ATTR {
      const auto z = part.load(y + units + j), n = part.load(y + 2 * units + j);
      part.store(hn::MulAdd(z, hn::Sub(part.load(hb + j), n), n), next + j);
    });
  }
}

void gru_state_backward_rows(ConstMatrix gates, ConstMatrix h, ConstMatrix dh_next, Matrix dgates, Matrix dh) {
  const int64_t units = h.cols;
  for (int64_t b = 0; b < h.rows; ++b) {
    const real *y = gates.row(b), *hb = h.row(b), *dnext = dh_next.row(b);
    real *dy = dgates.row(b), *dhb = dh.row(b);
    for_each_vector(units, [&](int64_t j, auto part) HWY_ATTR {
      const int64_t jz = units + j, jn = 2 * units + j;
      const auto d = part.load(dnext + j), z = part.load(y + jz);
      add_to(part, dy + jz, hn::Mul(d, hn::Sub(part.load(hb + j), part.load(y + jn))));
      add_to(part, dy + jn, hn::NegMulAdd(d, z, d));
      add_to(part, dhb + j, hn::Mul(d, z));
    });
  }
}

void lstm_gates_rows(ConstMatrix gx, ConstMatrix gh, Matrix gates) {
  const int64_t units = gates.cols / 4;
  for (int64_t b = 0; b < gates.rows; ++b) {
    const real *x = gx.row(b), *h = gh.row(b);
    real* y = gates.row(b);
    for_each_vector(units, [&](int64_t j, auto part) HWY_ATTR {
      for (int64_t k = j; k < 4 * units; k += units) {
        const auto a = hn::Add(part.load(x + k), part.load(h + k));
        part.store(k == 2 * units + j ? tanh(Reals(), a) : sigmoid(Reals(), a), y + k);
      }
    });
  }
}

void lstm_gates_backward_rows(ConstMatrix gates, ConstMatrix dgates, Matrix dgx, Matrix dgh) {
  const int64_t units = gates.cols / 4;
  for (int64_t b = 0; b < gates.rows; ++b) {
    const real *y = gates.row(b), *dy = dgates.row(b);
    real *dx = dgx.row(b), *dh = dgh.row(b);
    for_each_vector(units, [&](int64_t j, auto part) HWY_ATTR {
      for (int64_t k = j; k < 4 * units; k += units) {
        const auto gate = part.load(y + k);
        const auto slope = k == 2 * units + j ? tanh_slope(gate) : sigmoid_slope(gate);
        const auto a = hn::Mul(part.load(dy + k), slope);
        add_to(part, dx + k, a);
        add_to(part, dh + k, a);
      }
    });
  }
}

void lstm_cell_rows(ConstMatrix gates, ConstMatrix c, Matrix c_next) {
  const int64_t units = c.cols;
  for (int64_t b = 0; b < c.rows; ++b) {
    const real *y = gates.row(b), *cb = c.row(b);
    real* next = c_next.row(b);
    for_each_vector(units, [&](int64_t j, auto part) HWY_ATTR {
      const auto input = hn::Mul(part.load(y + j), part.load(y + 2 * units + j));
      part.store(hn::MulAdd(part.load(y + units + j), part.load(cb + j), input), next + j);
    });
  }
}

void lstm_cell_backward_rows(ConstMatrix gates, ConstMatrix c, ConstMatrix dc_next, Matrix dgates, Matrix dc) {
  const int64_t units = c.cols;
  for (int64_t b = 0; b < c.rows; ++b) {
    const real *y = gates.row(b), *cb = c.row(b), *dnext = dc_next.row(b);
    real *dy = dgates.row(b), *dcb = dc.row(b);
    for_each_vector(units, [&](int64_t j, auto part) HWY_ATTR {
      const int64_t jf = units + j, jg = 2 * units + j;
      const auto d = part.load(dnext + j);
      add_to(part, dy + j, hn::Mul(d, part.load(y + jg)));
      add_to(part, dy + jf, hn::Mul(d, part.load(cb + j)));
      add_to(part, dy + jg, hn::Mul(d, part.load(y + j)));
      add_to(part, dcb + j, hn::Mul(d, part.load(y + jf)));
    });
  }
}

void lstm_state_rows(ConstMatrix gates, ConstMatrix c_next, Matrix h_next) {
  const int64_t units = c_next.cols;
  for (int64_t b = 0; b < c_next.rows; ++b) {
    const real *o = gates.row(b) + 3 * units, *c = c_next.row(b);
    real* next = h_next.row(b);
    for_each_vector(units, [&](int64_t j, auto part) HWY_ATTR {
      part.store(hn::Mul(part.load(o + j), tanh(Reals(), part.load(c + j))), next + j);
    });
  }
}

void lstm_state_backward_rows(ConstMatrix gates, ConstMatrix c_next, ConstMatrix dh_next, Matrix dgates,
                              Matrix dc_next) {
  const int64_t units = c_next.cols;
  for (int64_t b = 0; b < c_next.rows; ++b) {
    const real *o = gates.row(b) + 3 * units, *c = c_next.row(b), *dnext = dh_next.row(b);
    real *d_o = dgates.row(b) + 3 * units, *dc = dc_next.row(b);
    for_each_vector(units, [&](int64_t j, auto part) HWY_ATTR {
      const auto d = part.load(dnext + j), t = tanh(Reals(), part.load(c + j));
      add_to(part, d_o + j, hn::Mul(d, t));
      add_to(part, dc + j, hn::Mul(hn::Mul(d, part.load(o + j)), tanh_slope(t)));
    });
  }
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(gru_gates_rows);
HWY_EXPORT(gru_gates_backward_rows);
HWY_EXPORT(gru_state_rows);
HWY_EXPORT(gru_state_backward_rows);
HWY_EXPORT(lstm_gates_rows);
HWY_EXPORT(lstm_gates_backward_rows);
HWY_EXPORT(lstm_cell_rows);
HWY_EXPORT(lstm_cell_backward_rows);
HWY_EXPORT(lstm_state_rows);
HWY_EXPORT(lstm_state_backward_rows);

namespace kernels {
namespace {

// Calls function on ranges of rows of all the matrices: ranges of some 8,000 gates, or one row.
template <class Function, class... Matrices>
void by_rows(Function* function, ConstMatrix gates, Matrices... others) {
  const int64_t grain = std::max<int64_t>(1, 8 * 1024 / std::max<int64_t>(1, gates.cols));
  parallel_ranges(gates.rows, grain, [&](int64_t begin, int64_t end) {
    function(gates.rows_from(begin, end - begin), others.rows_from(begin, end - begin)...);
  });
}

}  // namespace

void gru_gates_forward(ConstMatrix gx, ConstMatrix gh, Matrix gates) {
  by_rows(HWY_DYNAMIC_DISPATCH(gru_gates_rows), gx, gh, gates);
}
void gru_gates_backward(ConstMatrix gates, ConstMatrix gh, ConstMatrix dgates, Matrix dgx, Matrix dgh) {
  by_rows(HWY_DYNAMIC_DISPATCH(gru_gates_backward_rows), gates, gh, dgates, dgx, dgh);
}
void gru_state_forward(ConstMatrix gates, ConstMatrix h, Matrix h_next) {
  by_rows(HWY_DYNAMIC_DISPATCH(gru_state_rows), gates, h, h_next);
}
void gru_state_backward(ConstMatrix gates, ConstMatrix h, ConstMatrix dh_next, Matrix dgates, Matrix dh) {
  by_rows(HWY_DYNAMIC_DISPATCH(gru_state_backward_rows), gates, h, dh_next, dgates, dh);
}

void lstm_gates_forward(ConstMatrix gx, ConstMatrix gh, Matrix gates) {
  by_rows(HWY_DYNAMIC_DISPATCH(lstm_gates_rows), gx, gh, gates);
}
void lstm_gates_backward(ConstMatrix gates, ConstMatrix dgates, Matrix dgx, Matrix dgh) {
  by_rows(HWY_DYNAMIC_DISPATCH(lstm_gates_backward_rows), gates, dgates, dgx, dgh);
}
void lstm_cell_forward(ConstMatrix gates, ConstMatrix c, Matrix c_next) {
  by_rows(HWY_DYNAMIC_DISPATCH(lstm_cell_rows), gates, c, c_next);
}
void lstm_cell_backward(ConstMatrix gates, ConstMatrix c, ConstMatrix dc_next, Matrix dgates, Matrix dc) {
  by_rows(HWY_DYNAMIC_DISPATCH(lstm_cell_backward_rows), gates, c, dc_next, dgates, dc);
}
void lstm_state_forward(ConstMatrix gates, ConstMatrix c_next, Matrix h_next) {
  by_rows(HWY_DYNAMIC_DISPATCH(lstm_state_rows), gates, c_next, h_next);
}
void lstm_state_backward(ConstMatrix gates, ConstMatrix c_next, ConstMatrix dh_next, Matrix dgates, Matrix dc_next) {
  by_rows(HWY_DYNAMIC_DISPATCH(lstm_state_backward_rows), gates, c_next, dh_next, dgates, dc_next);
}

}  // namespace kernels
}  // namespace limpid
#endif
