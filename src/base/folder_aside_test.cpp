#include "base/folder_aside.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

TEST(FolderAside, TakesThePlaceOfAllThatWasThere) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "place");
  write_text(folder / "place/stale", "old");
  {
    FolderAside aside(folder / "place/");
    write_text(aside.path() / "new", "new");
    EXPECT_FALSE(fs::exists(folder / "place/new"));
    aside.put_in_place();
  }
  EXPECT_EQ(read_text(folder / "place/new"), "new");
  EXPECT_FALSE(fs::exists(folder / "place/stale"));
  EXPECT_EQ(paths_in(folder.path()).size(), 1u);
}

TEST(FolderAside, LeavesNothingUnlessItIsPutInPlace) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "place");
  write_text(folder / "place/mine", "kept");
  {
    const FolderAside aside(folder / "place");
    write_text(aside.path() / "half", "half");
  }
  EXPECT_EQ(read_text(folder / "place/mine"), "kept");
  EXPECT_EQ(paths_in(folder.path()).size(), 1u);
}

}  // namespace
}  // namespace limpid
