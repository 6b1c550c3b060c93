#include "tensor/arena.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <vector>

#include "base/random.h"
#include "tensor/tensor.h"

namespace {
thread_local int64_t allocations = 0;
}
// Not inlined: the compiler would see a free() of what new gave.
// NOLINTBEGIN(misc-new-delete-overloads)
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
// NOLINTEND(misc-new-delete-overloads)

namespace limpid {
namespace {

TEST(Arena, BlocksComeBackAndAreUsedAgain) {
  const Arena arena;
  real* first = nullptr;
  {
    const Buffer a = arena.allocate(1000);
    first = a.get();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0U);
    EXPECT_GE(arena.bytes_in_use(), 1000 * static_cast<int64_t>(sizeof(real)));
  }
  EXPECT_EQ(arena.bytes_in_use(), 0);
  EXPECT_EQ(arena.allocate(500).get(), first);
}

TEST(Arena, BlocksNeverOverlapAndFreeRangesMerge) {
  const Arena arena;
  Random random(1);
  std::vector<std::pair<Buffer, int64_t>> held;
  for (int round = 0; round < 3000; ++round) {
    if (!held.empty() && random.below(2)) {
      const int64_t i = random.below(static_cast<int64_t>(held.size()));
      for (int64_t j = 0; j < held[i].second; ++j) ASSERT_EQ(held[i].first.get()[j], static_cast<real>(held[i].second));
      held.erase(held.begin() + i);
    } else {
      const int64_t count = 1 + random.below(5000);
      held.emplace_back(arena.allocate(count), count);
      for (int64_t j = 0; j < count; ++j) held.back().first.get()[j] = static_cast<real>(count);
    }
  }
  const int64_t reserved = arena.bytes_reserved();
  held.clear();
  EXPECT_EQ(arena.bytes_in_use(), 0);
  const Buffer whole = arena.allocate(reserved / static_cast<int64_t>(sizeof(real)));  // fits only if all has merged
  EXPECT_EQ(arena.bytes_reserved(), reserved);
}

// They come back where nothing can be done about an error.
TEST(Arena, BlocksComeBackWithoutNeedingMemory) {
  const Arena arena;
  std::vector<Buffer> held;
  for (int i = 0; i < 100; ++i) held.push_back(arena.allocate(16 * (1 + i % 7)));
  const int64_t before = allocations;
  for (size_t i = 0; i < held.size(); i += 2) held[i].reset();  // ranges with neighbours in use
  for (size_t i = 1; i < held.size(); i += 2) held[i].reset();
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(arena.bytes_in_use(), 0);
}

TEST(Arena, BlocksOutliveIt) {
  Buffer kept;
  {
    const Arena arena;
    kept = arena.allocate(10);
  }
  kept.get()[9] = 1;
  EXPECT_EQ(kept.get()[9], 1);
}

TEST(Tensor, SlicesShareNumbers) {
  Tensor x(Arena(), 3, 4);
  for (int64_t i = 0; i < 12; ++i) x.values().data[i] = static_cast<real>(i);
  Tensor middle = x.slice(1, 2).columns(1, 2);
  EXPECT_EQ(middle.values()(1, 1), 10);
  EXPECT_FALSE(middle.is_whole());
  EXPECT_FALSE(x.sole_owner());
  middle.values()(0, 0) = -1;
  EXPECT_EQ(x.values()(1, 1), -1);
  EXPECT_EQ(middle.offset(), 5);
}

}  // namespace
}  // namespace limpid
