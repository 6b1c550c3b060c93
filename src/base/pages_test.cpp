#include "base/pages.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace limpid {
namespace {

TEST(Pages, AreZerosToWriteOn) {
  const auto pages = allocate_pages(10'000);
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pages.get()) % 64, 0U);
  EXPECT_TRUE(std::all_of(pages.get(), pages.get() + 10'000, [](std::byte b) { return b == std::byte{0}; }));
  std::fill_n(pages.get(), 10'000, std::byte{7});
  EXPECT_EQ(pages.get()[9'999], std::byte{7});
  EXPECT_NE(allocate_pages(0), nullptr);
}

TEST(Pages, AreNoneWhereThereIsNoMemory) { EXPECT_EQ(allocate_pages(int64_t{1} << 60), nullptr); }

}  // namespace
}  // namespace limpid
