#include "base/paths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

ErrorKind kind_of(const auto& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no Error";
  return ErrorKind::internal;
}

TEST(Paths, WhatIsThereAndWhatIsNot) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_TRUE(path_exists(file));
  EXPECT_FALSE(is_folder(file));
  EXPECT_TRUE(path_exists(folder.path()));
  EXPECT_TRUE(is_folder(folder.path()));
  EXPECT_FALSE(path_exists(folder.path() / "none"));
  EXPECT_FALSE(is_folder(folder.path() / "none"));
  EXPECT_FALSE(path_exists(file / "below"));
}

TEST(Paths, ANameThatIsTooLongIsAnError) {
  const std::filesystem::path name(std::string(5000, 'a'));
  EXPECT_EQ(kind_of([&] { path_exists(name); }), ErrorKind::io);
  EXPECT_EQ(kind_of([&] { is_folder(name); }), ErrorKind::io);
}

TEST(Paths, AFolderIsListedInTheOrderOfNames) {
  const TemporaryFolder folder;
  for (const char* name : {"b", "a", "c"}) std::ofstream(folder / name) << "x";
  EXPECT_EQ(paths_in(folder.path()), (std::vector{folder / "a", folder / "b", folder / "c"}));
  EXPECT_TRUE(paths_in(folder / "none").empty());
  EXPECT_EQ(kind_of([&] { paths_in(folder / "a"); }), ErrorKind::io);
}

TEST(Paths, WhatIsMovedOrRemovedIsThereNoMore) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "a/b");
  move_path(folder / "a", folder / "c");
  EXPECT_TRUE(is_folder(folder / "c/b"));
  remove_path(folder / "c");
  remove_path(folder / "c");
  EXPECT_FALSE(path_exists(folder / "c"));
  EXPECT_EQ(kind_of([&] { move_path(folder / "a", folder / "c"); }), ErrorKind::io);
  EXPECT_EQ(kind_of([&] { remove_path(std::string(5000, 'a')); }), ErrorKind::io);
}

TEST(Paths, AbsoluteOnesHaveNoDots) {
  const auto here = std::filesystem::current_path();
  EXPECT_EQ(absolute_path("./a/../b"), here / "b");
  EXPECT_EQ(absolute_path("/a/./b"), "/a/b");
}

TEST(Paths, FilesSayWhichKindOfTroubleThereIs) {
  const TemporaryFolder folder;
  EXPECT_EQ(kind_of([&] { read_text(folder.path() / "none"); }), ErrorKind::not_found);
  EXPECT_EQ(kind_of([&] { write_text(folder.path() / "none/x", "x"); }), ErrorKind::not_found);
  EXPECT_EQ(kind_of([&] { read_text(std::string(5000, 'a')); }), ErrorKind::io);
  EXPECT_EQ(kind_of([&] { read_text(folder.path()); }), ErrorKind::bad_input);
}

}  // namespace
}  // namespace limpid
