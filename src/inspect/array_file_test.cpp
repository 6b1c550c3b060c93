#include "inspect/array_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/temporary_folder.h"
#include "formats/safetensors.h"
#include "inspect/direction.h"

namespace limpid {
namespace {

const std::vector<ArrayShape> kShapes = {{"a", {2, 2}}, {"b", {3}}};

// In pieces, the arrays side by side.
void fill(ArrayFile& file) {
  const std::vector<real> a = {1, 2, 3, 4}, b = {5, 6, 7};
  file.append(0, std::span(a).first(3));
  file.append(1, std::span(b).first(1));
  file.append(0, std::span(a).last(1));
  file.append(1, std::span(b).last(2));
}

TEST(ArrayFile, OneSafetensorsFile) {
  const TemporaryFolder folder;
  {
    ArrayFile file(folder / "x.safetensors", kShapes, {{"text", "a b"}});
    fill(file);
    file.finish();
  }
  const SafetensorsFile file(folder / "x.safetensors");
  std::vector<real> numbers(4);
  read_reals(file.get("a"), numbers.data());
  EXPECT_EQ(file.get("a").shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(numbers, (std::vector<real>{1, 2, 3, 4}));
  read_reals(file.get("b"), numbers.data());
  EXPECT_EQ(numbers[2], 7);
}

TEST(ArrayFile, AFolderOfNumpysFiles) {
  const TemporaryFolder folder;
  {
    ArrayFile file(folder / "arrays", kShapes);
    fill(file);
    file.finish();
  }
  EXPECT_EQ(read_npy_vector(folder / "arrays/b.npy"), (std::vector<double>{5, 6, 7}));
  EXPECT_THROW(ArrayFile(folder / "arrays", kShapes), Error);  // nothing is written over
}

TEST(ArrayFile, WithoutAllNumbersNothingRemains) {
  const TemporaryFolder folder;
  for (const char* name : {"x.safetensors", "arrays"}) {
    ArrayFile file(folder / name, kShapes);
    const std::vector<real> a = {1, 2, 3};
    file.append(0, a);
    EXPECT_THROW(file.finish(), Error);
  }
  EXPECT_TRUE(paths_in(folder.path()).empty());
}

}  // namespace
}  // namespace limpid
