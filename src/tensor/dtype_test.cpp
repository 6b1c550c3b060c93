#include "tensor/dtype.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"

namespace limpid {
namespace {

// A 16-bit type by its fields; the value by the definition of IEEE 754, in double.
struct Small {
  DType type;
  int exponent_bits;
  int fraction_bits;

  double value(uint32_t bits) const {
    const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
    const int exponent = static_cast<int>(bits >> fraction_bits) & top;
    const double fraction = std::ldexp(bits & ((1u << fraction_bits) - 1), -fraction_bits);
    double magnitude = std::ldexp(1 + fraction, exponent - bias);
    if (exponent == 0) magnitude = std::ldexp(fraction, 1 - bias);
    if (exponent == top) magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
    return bits & 0x8000u ? -magnitude : magnitude;
  }
  uint16_t infinity() const { return static_cast<uint16_t>(((1u << exponent_bits) - 1) << fraction_bits); }
  float read(uint16_t bits) const { return type == DType::f16 ? from_f16(bits) : from_bf16(bits); }
  template <class T>
  uint16_t write(T number) const {
    return type == DType::f16 ? to_f16(number) : to_bf16(number);
  }
};

constexpr Small kSmall[] = {{DType::f16, 5, 10}, {DType::bf16, 8, 7}};

// Calls the test with each instruction set that this machine has.
template <class Test>
void with_every_instruction_set(Test test) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

TEST(DType, SizesAndNames) {
  EXPECT_EQ(bytes_of(DType::f64), 8);
  EXPECT_EQ(bytes_of(DType::f32, 3), 12);
  EXPECT_EQ(bytes_of(DType::f16, 3), 6);
  EXPECT_EQ(bytes_of(DType::bf16), 2);
  EXPECT_EQ(bytes_of(kRealType), static_cast<int64_t>(sizeof(real)));
  for (const char* const name : {"F64", "F32", "F16", "BF16"}) {
    const auto type = dtype_named(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(name_of(*type), name);
  }
  EXPECT_FALSE(dtype_named("f32"));
  EXPECT_FALSE(dtype_named("I64"));
  EXPECT_FALSE(dtype_named(""));
}

TEST(DType, EverySmallNumberReadsAndWritesBack) {
  for (const Small& small : kSmall) {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const float got = small.read(static_cast<uint16_t>(bits));
      const double expected = small.value(bits);
      ASSERT_EQ(std::signbit(got), bits >= 0x8000u) << bits;
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got)) << bits;
        const uint32_t quiet = bits | (1u << (small.fraction_bits - 1));
        ASSERT_EQ(small.write(got), quiet) << "sign and payload of NaN";
      } else {
        ASSERT_EQ(got, expected) << bits;
        ASSERT_EQ(small.write(got), bits);
        ASSERT_EQ(small.write(expected), bits);
      }
    }
  }
}

// Between every two neighbours: half way goes to the even one, the least bit less or more to the nearer one.
template <class T>
void expect_nearest_even(const Small& small) {
  for (uint32_t low = 0; low < small.infinity(); ++low) {
    const uint32_t high = low + 1;
    const double above = high == small.infinity() ? 2 * small.value(low) - small.value(low - 1) : small.value(high);
    const auto middle = static_cast<T>((small.value(low) + above) / 2);
    const T less = std::nextafter(middle, T(0)), more = std::nextafter(middle, std::numeric_limits<T>::infinity());
    for (const uint32_t sign : {0u, 0x8000u}) {
      const T one = sign ? T(-1) : T(1);
      ASSERT_EQ(small.write(one * middle), sign | (low % 2 == 0 ? low : high)) << middle;
      ASSERT_EQ(small.write(one * less), sign | low) << less;
      ASSERT_EQ(small.write(one * more), sign | high) << more;
    }
  }
}

TEST(DType, RoundsToNearestEven) {
  for (const Small& small : kSmall) {
    expect_nearest_even<float>(small);
    expect_nearest_even<double>(small);  // two roundings, by way of float, would miss `less` and `more`
  }
}

TEST(DType, Extremes) {
  for (const Small& small : kSmall) {
    const uint16_t infinity = small.infinity();
    EXPECT_EQ(small.write(HUGE_VALF), infinity);
    EXPECT_EQ(small.write(-HUGE_VAL), infinity | 0x8000u);
    EXPECT_EQ(small.write(std::numeric_limits<float>::max()), infinity);
    EXPECT_EQ(small.write(std::numeric_limits<double>::max()), infinity);
    EXPECT_EQ(small.write(std::numeric_limits<float>::denorm_min()), 0);
    EXPECT_EQ(small.write(-std::numeric_limits<double>::denorm_min()), 0x8000u);
    EXPECT_TRUE(std::isnan(small.read(small.write(std::nan("")))));
    EXPECT_TRUE(std::isnan(small.read(small.write(std::numeric_limits<float>::signaling_NaN()))));
    EXPECT_TRUE(std::isnan(small.read(small.write(std::bit_cast<float>(0x7f800001u))))) << "payload in the lowest bit";
  }
}

TEST(DType, BulkEqualsOneByOne) {
  std::vector<uint16_t> bits(65536);
  for (uint32_t i = 0; i < 65536; ++i) bits[i] = static_cast<uint16_t>(i);
  std::vector<real> reals(bits.size());
  std::vector<uint16_t> written(bits.size());
  with_every_instruction_set([&] {
    for (const Small& small : kSmall) {
      to_real(small.type, bits.data(), 65536, reals.data());
      from_real(reals.data(), 65536, small.type, written.data());
      for (uint32_t i = 0; i < 65536; ++i) {
        const real expected = small.read(bits[i]);
        ASSERT_EQ(std::memcmp(&reals[i], &expected, sizeof(real)), 0) << i;
        ASSERT_EQ(written[i], small.write(expected)) << i;
      }
    }
  });
}

TEST(DType, BulkRoundsAnyReal) {
  Random random(1);
  std::vector<real> numbers(100000);
  for (real& number : numbers) number = std::bit_cast<float>(static_cast<uint32_t>(random.bits()));
  for (size_t i = 0; i < numbers.size(); i += 2) numbers[i] = static_cast<real>(random.normal() * 1e-3);
  const auto count = static_cast<int64_t>(numbers.size());
  std::vector<uint16_t> written(numbers.size());
  with_every_instruction_set([&] {
    for (const Small& small : kSmall) {
      from_real(numbers.data(), count, small.type, written.data());
      for (size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(written[i], small.write(numbers[i])) << numbers[i];
    }
  });
}

// Every type, short counts around the width of vectors, every alignment: what lies beside the numbers is not touched.
TEST(DType, AnyCountAndAlignment) {
  with_every_instruction_set([] {
    for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      for (int64_t count = 0; count <= 67; ++count) {
        const int64_t offset = count % 8, size = bytes_of(type, count);
        std::vector<real> numbers(count), back(count + 1, real(99));
        for (int64_t i = 0; i < count; ++i) numbers[i] = static_cast<real>(i - 30) / 4;  // exact in every type
        std::vector<uint8_t> bytes(offset + size + 1, 0xab);
        from_real(numbers.data(), count, type, bytes.data() + offset);
        for (int64_t i = 0; i < offset; ++i) ASSERT_EQ(bytes[i], 0xab);
        ASSERT_EQ(bytes.back(), 0xab);
        to_real(type, bytes.data() + offset, count, back.data());
        ASSERT_EQ(back.back(), real(99));
        back.pop_back();
        ASSERT_EQ(back, numbers) << name_of(type) << " × " << count;
      }
    }
  });
}

TEST(DType, DoublesAndFloats) {
  const double numbers[] = {1.0 / 3, -0.0, 1e300, 1e-310, HUGE_VAL};
  real reals[5];
  to_real(DType::f64, numbers, 5, reals);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(reals[i], static_cast<real>(numbers[i]));
  EXPECT_TRUE(std::signbit(reals[1]));
  float floats[5];
  from_real(reals, 5, DType::f32, floats);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(floats[i], static_cast<float>(numbers[i]));
}

TEST(DType, SameBitsWithAnyNumberOfThreads) {
  Random random(2);
  std::vector<real> numbers(100003), one(numbers.size()), two(numbers.size());
  for (real& number : numbers) number = static_cast<real>(random.normal());
  const auto count = static_cast<int64_t>(numbers.size());
  std::vector<uint16_t> bits_one(numbers.size()), bits_two(numbers.size());
  const int before = threads();
  for (const Small& small : kSmall) {
    set_threads(1);
    from_real(numbers.data(), count, small.type, bits_one.data());
    to_real(small.type, bits_one.data(), count, one.data());
    set_threads(3);
    from_real(numbers.data(), count, small.type, bits_two.data());
    to_real(small.type, bits_two.data(), count, two.data());
    EXPECT_EQ(bits_one, bits_two);
    EXPECT_EQ(one, two);
  }
  set_threads(before);
}

}  // namespace
}  // namespace limpid
