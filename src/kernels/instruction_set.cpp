#include "kernels/instruction_set.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/instruction_set.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <atomic>
#include <chrono>

#include "base/real.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Twelve chains of dependent multiply-adds hide the latency of two units four cycles deep, and fit AVX2's registers.
double multiply_adds(int64_t rounds) {
  const hn::ScalableTag<real> d;
  const auto factor = hn::Set(d, static_cast<real>(0.999)), term = hn::Set(d, static_cast<real>(1e-3));
  auto start = [&](int i) HWY_ATTR { return hn::Set(d, static_cast<real>(i)); };  // different, or the chains become one
  auto a0 = start(0), a1 = start(1), a2 = start(2), a3 = start(3), a4 = start(4), a5 = start(5), a6 = start(6),
       a7 = start(7), a8 = start(8), a9 = start(9), a10 = start(10), a11 = start(11);
  for (int64_t i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, factor, term);
    a1 = hn::MulAdd(a1, factor, term);
    a2 = hn::MulAdd(a2, factor, term);
    a3 = hn::MulAdd(a3, factor, term);
    a4 = hn::MulAdd(a4, factor, term);
    a5 = hn::MulAdd(a5, factor, term);
    a6 = hn::MulAdd(a6, factor, term);
    a7 = hn::MulAdd(a7, factor, term);
    a8 = hn::MulAdd(a8, factor, term);
    a9 = hn::MulAdd(a9, factor, term);
    a10 = hn::MulAdd(a10, factor, term);
    a11 = hn::MulAdd(a11, factor, term);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), hn::Add(hn::Add(a4, a5), hn::Add(a6, a7)));
  volatile real kept = hn::GetLane(hn::Add(sum, hn::Add(hn::Add(a8, a9), hn::Add(a10, a11))));
  (void)kept;  // so that the loop is not optimised away
  return 24.0 * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

real read_all(const real* numbers, int64_t count) {
  const hn::ScalableTag<real> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0;
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a0 = hn::Add(a0, hn::LoadU(d, numbers + i));
    a1 = hn::Add(a1, hn::LoadU(d, numbers + i + lanes));
    a2 = hn::Add(a2, hn::LoadU(d, numbers + i + 2 * lanes));
    a3 = hn::Add(a3, hn::LoadU(d, numbers + i + 3 * lanes));
  }
  real sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a0, a1), hn::Add(a2, a3))));
  for (; i < count; ++i) sum += numbers[i];
  return sum;
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::kernels {

HWY_EXPORT(multiply_adds);
HWY_EXPORT(target_name);
HWY_EXPORT(read_all);

std::string instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

namespace {

bool has_byte_dot_products() {
#if HWY_ARCH_X86
  return __builtin_cpu_supports("avx512vnni") != 0;
#else
  return false;
#endif
}

std::atomic<bool> byte_dot_products = has_byte_dot_products();

}  // namespace

bool uses_byte_dot_products() { return byte_dot_products.load(std::memory_order_relaxed); }
void use_byte_dot_products(bool wanted) { byte_dot_products = wanted && has_byte_dot_products(); }

bool kernels_run_here() { return (hwy::SupportedTargets() & HWY_STATIC_TARGET) != 0; }

real read_numbers(const real* numbers, int64_t count) { return HWY_DYNAMIC_DISPATCH(read_all)(numbers, count); }

double fma_peak_gflops(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double operations = 0, elapsed = 0;
  do {
    operations += HWY_DYNAMIC_DISPATCH(multiply_adds)(100'000);
    elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  } while (elapsed < seconds);
  return operations / elapsed / 1e9;
}

}  // namespace limpid::kernels
#endif
