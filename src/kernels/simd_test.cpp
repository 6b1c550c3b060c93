#include "kernels/simd.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <limits>

#include "kernels/test_support.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_test.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

void exp_all(const real* x, real* y, int64_t n) {
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR { part.store(exp(Reals(), part.load(x + j)), y + j); });
}
void tanh_all(const real* x, real* y, int64_t n) {
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR { part.store(tanh(Reals(), part.load(x + j)), y + j); });
}
void sigmoid_all(const real* x, real* y, int64_t n) {
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR { part.store(sigmoid(Reals(), part.load(x + j)), y + j); });
}

// y[j] = 1 where start + j is kept, else 0
void mask_all(const Dropout& dropout, uint64_t start, real* y, int64_t n) {
  const Reals d;
  const DropoutMask mask(dropout);
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
    part.store(hn::IfThenElseZero(mask.keep(d, start + j), hn::Set(d, real(1))), y + j);
  });
}

// y = 2x; returns the largest of y, and Σ y by way of zero_rest of y + 1
void double_all(const real* x, real* y, int64_t n, real* largest, real* sum) {
  const Reals d;
  RealVec total = hn::Zero(d), most = hn::Set(d, real(-1e30));
  for_each_vector(n, [&](int64_t j, auto part) HWY_ATTR {
    const RealVec v = hn::Add(part.load(x + j), part.load(x + j));
    total = hn::Add(total, part.zero_rest(hn::Add(v, hn::Set(d, real(1)))));
    most = hn::Max(most, v);
    part.store(v, y + j);
  });
  *largest = max_lanes(d, most);
  *sum = sum_lanes(d, total) - static_cast<real>(n);
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
namespace {

HWY_EXPORT(exp_all);
HWY_EXPORT(tanh_all);
HWY_EXPORT(sigmoid_all);
HWY_EXPORT(mask_all);
HWY_EXPORT(double_all);

using Function = void (*)(const real*, real*, int64_t);

// The largest error of f over x, in units of the last place of what wide says.
double units_off(const std::vector<real>& x, Function f, long double (*wide)(long double)) {
  std::vector<real> y(x.size());
  f(x.data(), y.data(), static_cast<int64_t>(x.size()));
  long double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const long double exact = wide(x[i]);
    const real rounded = std::abs(static_cast<real>(exact));
    const long double unit = std::nextafter(rounded, std::numeric_limits<real>::infinity()) - rounded;
    worst = std::max(worst, std::abs(y[i] - exact) / unit);
  }
  return static_cast<double>(worst);
}

// Numbers of both signs whose size runs evenly through powers of two from 2^low to 2^high.
std::vector<real> powers(double low, double high) {
  std::vector<real> x;
  for (double e = low; e < high; e += 0.005) x.insert(x.end(), {real(std::exp2(e)), real(-std::exp2(e))});
  return x;
}

constexpr bool kSingle = sizeof(real) == 4;
long double wide_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

TEST(Simd, ExpIsExact) {
  std::vector<real> x = powers(-30, kSingle ? 6.44 : 9.467);  // to ±87, ±708
  for_each_target([&] {
    EXPECT_LT(units_off(x, HWY_DYNAMIC_DISPATCH(exp_all), std::exp), 1.1);
    EXPECT_LT(units_off(x, HWY_DYNAMIC_DISPATCH(sigmoid_all), wide_sigmoid), 2.6);
  });
}

TEST(Simd, TanhIsExact) {
  for_each_target([] { EXPECT_LT(units_off(powers(-30, 6), HWY_DYNAMIC_DISPATCH(tanh_all), std::tanh), 3.1); });
}

TEST(Simd, ExpAtTheEnds) {
  constexpr real kInfinity = std::numeric_limits<real>::infinity();
  const real x[] = {-kInfinity, real(-1e30), 0, kInfinity, std::numeric_limits<real>::quiet_NaN()};
  for_each_target([&] {
    real y[5];
    HWY_DYNAMIC_DISPATCH(exp_all)(x, y, 5);
    EXPECT_EQ(y[0], 0);
    EXPECT_EQ(y[1], 0);
    EXPECT_EQ(y[2], 1);
    EXPECT_GT(y[3], kSingle ? 2e38 : 1e308);
    EXPECT_TRUE(std::isnan(y[4]));
    HWY_DYNAMIC_DISPATCH(tanh_all)(x, y, 5);
    EXPECT_EQ(y[0], -1);
    EXPECT_EQ(y[2], 0);
    EXPECT_EQ(y[3], 1);
    EXPECT_TRUE(std::isnan(y[4]));
    HWY_DYNAMIC_DISPATCH(sigmoid_all)(x, y, 5);
    EXPECT_LT(y[0], 1e-37);
    EXPECT_EQ(y[2], 0.5);
    EXPECT_EQ(y[3], 1);
    EXPECT_TRUE(std::isnan(y[4]));
  });
}

TEST(Simd, MaskIsItsSpecification) {
  const Dropout dropout{0.5f, 123};
  constexpr uint64_t k32 = uint64_t{1} << 32;
  for_each_target([&] {
    for (uint64_t start :
         {uint64_t{0}, uint64_t{5}, k32 - 70, k32 - 1, k32, 3 * k32 - 33, 3 * k32 + 9, k32 * k32 / 4}) {
      real y[101];
      HWY_DYNAMIC_DISPATCH(mask_all)(dropout, start, y, 101);
      for (uint64_t j = 0; j < 101; ++j) ASSERT_EQ(y[j], dropout_keeps(dropout, start + j)) << start << " + " << j;
    }
  });
}

// Numbers that end where memory ends: a read or write beyond them is a fault.
TEST(Simd, PartsStayInsideTheRow) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<char*>(memory) + page, page, PROT_NONE), 0);
  real* const end = reinterpret_cast<real*>(static_cast<char*>(memory) + page);
  for_each_target([&] {
    for (int64_t n = 0; n <= 70; ++n) {
      real* x = end - n;
      std::fill_n(x - 40, 40, real(7));
      real expected = 0;
      for (int64_t j = 0; j < n; ++j) expected += 2 * (x[j] = static_cast<real>(j - 90));
      real largest = 0, sum = 0;
      HWY_DYNAMIC_DISPATCH(double_all)(x, x, n, &largest, &sum);
      for (int64_t j = 0; j < n; ++j) ASSERT_EQ(x[j], static_cast<real>(2 * (j - 90)));
      ASSERT_EQ(std::count(x - 40, x, real(7)), 40);
      ASSERT_EQ(sum, expected);
    }
  });
  munmap(memory, 2 * page);
}

TEST(Simd, LargestOfWholeVectors) {
  std::vector<real> x(64, -5), y(64);
  for_each_target([&] {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = -3;
      real largest = 0, sum = 0;
      HWY_DYNAMIC_DISPATCH(double_all)(x.data(), y.data(), 64, &largest, &sum);
      EXPECT_EQ(largest, -6);
      x[i] = -5;
    }
  });
}

}  // namespace
}  // namespace limpid
#endif  // HWY_ONCE
