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

TEST(Paths, FilesSayWhichKindOfTroubleThereIs) {
  const TemporaryFolder folder;
  EXPECT_EQ(kind_of([&] { read_text(folder.path() / "none"); }), ErrorKind::not_found);
  EXPECT_EQ(kind_of([&] { write_text(folder.path() / "none/x", "x"); }), ErrorKind::not_found);
  EXPECT_EQ(kind_of([&] { read_text(std::string(5000, 'a')); }), ErrorKind::io);
  EXPECT_EQ(kind_of([&] { read_text(folder.path()); }), ErrorKind::bad_input);
}

}  // namespace
}  // namespace limpid
