// What fuzzing has found once is never met again, and the readers withstand a first few mutations in every ./test; the
// search itself is ./test --fuzz.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "fuzz/mutators.h"

namespace limpid::fuzz {
namespace {

namespace fs = std::filesystem;

const fs::path kRegressions = fs::path(LIMPID_SOURCE_DIR) / "tests/fuzz/regressions";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class EveryReader : public testing::TestWithParam<Reader> {};

TEST_P(EveryReader, AcceptsItsSeeds) {
  const auto seeds = GetParam().seeds();
  ASSERT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) {
    EXPECT_NO_THROW(GetParam().read(seed)) << seed.substr(0, 200);
    EXPECT_LT(seed.size(), 64u << 10);
  }
}

// Those in which something has been found.
std::vector<Reader> broken_once() {
  std::vector<Reader> found;
  for (const Reader& reader : readers())
    if (fs::exists(kRegressions / reader.name)) found.push_back(reader);
  return found;
}

class ReaderBrokenOnce : public testing::TestWithParam<Reader> {};

TEST_P(ReaderBrokenOnce, ReadsOrRefusesIt) {
  for (const auto& entry : fs::directory_iterator(kRegressions / GetParam().name))
    try_reader(GetParam(), read(entry.path()));  // must come back
}

TEST_P(EveryReader, ReadsOrRefusesMutations) {
  int64_t accepted = 0, tried = 0;
  for (const std::string& seed : GetParam().seeds())
    for (uint64_t i = 0; i < 40; ++i, ++tried) accepted += try_reader(GetParam(), mutate(seed, GetParam().shape, i));
  EXPECT_LT(accepted, tried);  // some must have been refused, or nothing was mutated
}

INSTANTIATE_TEST_SUITE_P(Fuzz, EveryReader, testing::ValuesIn(readers().begin(), readers().end()),
                         [](const auto& test) { return std::string(test.param.name); });

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ReaderBrokenOnce);
INSTANTIATE_TEST_SUITE_P(Fuzz, ReaderBrokenOnce, testing::ValuesIn(broken_once()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(FuzzRegressions, StaySmallAndBelongToAReader) {
  if (!fs::exists(kRegressions)) return;  // nothing has been found
  uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kRegressions)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
    if (entry.is_directory()) {
      EXPECT_NE(find_reader(entry.path().filename().string()), nullptr) << entry.path();
    }
  }
  EXPECT_LT(bytes, 2u << 20);
}

}  // namespace
}  // namespace limpid::fuzz
