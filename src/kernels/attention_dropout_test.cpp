#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_dropout_test.cpp"
#include <hwy/foreach_target.h>

#include "kernels/attention-inl.h"
#include "kernels/test_support.h"

HWY_BEFORE_NAMESPACE();
namespace limpid {
namespace HWY_NAMESPACE {

// y[l] = 1 where the pair of key j and query i + l is kept, else 0; returns the number of lanes.
int64_t kept_pairs(const Dropout& dropout, uint64_t start, int64_t m, int64_t i, int64_t j, real* y) {
  const PairDropout drop(dropout, start, m);
  hn::StoreU(hn::IfThenElseZero(drop.keep(Reals(), i, j), hn::Set(Reals(), real(1))), Reals(), y);
  return kLanes;
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
namespace {

HWY_EXPORT(kept_pairs);

// Also where the index passes a multiple of 2³², which no batch of a test reaches.
TEST(AttentionDropout, DrawsTheMaskOfDropout) {
  const Dropout dropout{0.5f, 99};
  for_each_target([&] {
    for (uint64_t start : {uint64_t{0}, uint64_t{0xffffffff} - 300, (uint64_t{7} << 32) - 40, uint64_t{1} << 40}) {
      for (int64_t m : {1, 2, 13, 64, 300}) {
        for (int64_t i = 0; i < 40; i += 3) {
          const int64_t j = i % m;
          real kept[64];
          const int64_t lanes = HWY_DYNAMIC_DISPATCH(kept_pairs)(dropout, start, m, i, j, kept);
          for (int64_t l = 0; l < lanes; ++l) {
            const uint64_t index = start + static_cast<uint64_t>((i + l) * m + j);
            ASSERT_EQ(kept[l] == 1, dropout_keeps(dropout, index)) << index << " " << m;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace limpid
#endif
