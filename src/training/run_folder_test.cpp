#include "training/run_folder.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const fs::path& path) {
  try {
    const RunFolder folder(path);
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(RunFolder, IsMadeAndOpenedAgain) {
  const TemporaryFolder temporary;
  const fs::path path = temporary / "runs" / "first";
  {
    const RunFolder folder(path);
    EXPECT_TRUE(fs::is_directory(path));
    EXPECT_EQ(folder.log(), path / "log.jsonl");
    EXPECT_EQ(folder.checkpoints(), path / "checkpoints");
    EXPECT_FALSE(folder.has_checkpoint());
    write_text(folder / "recipe.toml", "anything");
    fs::create_directories(folder.checkpoints() / "step-1");
    EXPECT_TRUE(folder.has_checkpoint());
  }
  EXPECT_TRUE(is_run_folder(path));
  EXPECT_EQ(error_of(path), "no error");
  fs::remove(path / "lock");  // as in a copy
  EXPECT_EQ(error_of(path), "no error");
}

TEST(RunFolder, ASecondRunIsRefusedAndToldWhoIsThere) {
  const TemporaryFolder temporary;
  {
    RunFolder folder(temporary / "run");
    EXPECT_THAT(error_of(temporary / "run"), AllOf(HasSubstr("another run works in this folder"),
                                                   HasSubstr(fmt::format("process {} ", ::getpid()))));
    const RunFolder moved = std::move(folder);  // the lock goes with it
    EXPECT_THAT(error_of(temporary / "run"), HasSubstr("another run"));
  }
  EXPECT_EQ(error_of(temporary / "run"), "no error");
}

TEST(RunFolder, ARunThatWasKilledLeavesNoLock) {
  const TemporaryFolder temporary;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const RunFolder folder(temporary / "run");
    (void)!::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char letter = 0;
  ASSERT_EQ(::read(ready[0], &letter, 1), 1);
  EXPECT_THAT(error_of(temporary / "run"), HasSubstr(fmt::format("process {} ", child)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(error_of(temporary / "run"), "no error");
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(RunFolder, ALockFileThatWasReplacedIsTakenAnew) {
  const TemporaryFolder temporary;
  const RunFolder folder(temporary / "run");
  write_text(temporary / "run" / "lock", "limpid run, process 1 on elsewhere\n");  // another file under that name
  EXPECT_EQ(error_of(temporary / "run"), "no error");
}

TEST(RunFolder, AForeignFolderIsLeftAlone) {
  const TemporaryFolder temporary;
  write_text(temporary / "thesis.txt", "years of work");
  EXPECT_THAT(error_of(temporary.path()), HasSubstr("holds something else"));
  EXPECT_FALSE(fs::exists(temporary / "lock"));
  EXPECT_FALSE(is_run_folder(temporary.path()));
  write_text(temporary / "lock", "somebody else's");
  EXPECT_THAT(error_of(temporary.path()), HasSubstr("holds something else"));
  EXPECT_EQ(read_text(temporary / "lock"), "somebody else's");
}

TEST(RunFolder, AFileIsNone) {
  const TemporaryFolder temporary;
  write_text(temporary / "model.gguf", "GGUF");
  EXPECT_FALSE(is_run_folder(temporary / "model.gguf"));
  EXPECT_FALSE(is_run_folder(temporary / "nothing"));
}

TEST(RunFolder, WhatCannotBeAFolderIsSaid) {
  const TemporaryFolder temporary;
  write_text(temporary / "file", "x");
  EXPECT_THAT(error_of(temporary / "file"), HasSubstr("cannot be used as a run's folder"));
  EXPECT_THAT(error_of(temporary / "file" / "run"), HasSubstr("cannot be used as a run's folder"));
}

TEST(RunFolder, AFolderWithoutPermissionIsSaid) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write anywhere";
  const TemporaryFolder temporary;
  fs::create_directory(temporary / "run");
  fs::permissions(temporary / "run", fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(error_of(temporary / "run"), HasSubstr("look at its owner and mode"));
}

}  // namespace
}  // namespace limpid
