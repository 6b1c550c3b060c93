#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "base/mapped_files.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The text of the Error that `action` throws; "" if it throws none.
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

int64_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

void put(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

TEST(MappedFile, IsKnownByItsAddressWhileItIsMapped) {
  const TemporaryFolder folder;
  put(folder.path() / "one", "abc");
  put(folder.path() / "two", "defgh");
  const void* inside = nullptr;
  {
    const MappedFile one(folder.path() / "one"), two(folder.path() / "two");
    inside = two.bytes().data() + 2;
    EXPECT_STREQ(mapped_file_at(inside), (folder.path() / "two").c_str());
    EXPECT_STREQ(mapped_file_at(one.bytes().data()), (folder.path() / "one").c_str());
    EXPECT_EQ(mapped_file_at(&folder), nullptr);
  }
  EXPECT_EQ(mapped_file_at(inside), nullptr);
}

TEST(MappedFile, HoldsTheBytes) {
  const TemporaryFolder folder;
  const std::string text("a\0b\r\nc", 6);
  put(folder / "x", text);
  MappedFile file(folder / "x");
  EXPECT_EQ(text_of(file.bytes()), text);
  MappedFile moved(std::move(file));
  EXPECT_EQ(text_of(moved.bytes()), text);
  put(folder / "y", "other");
  moved = MappedFile(folder / "y");
  EXPECT_EQ(text_of(moved.bytes()), "other");
  EXPECT_EQ(moved.path(), folder / "y");
}

TEST(MappedFile, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const auto error_with = [&](const std::string& name) { return error_of([&] { MappedFile file(folder / name); }); };
  EXPECT_THAT(error_with("missing"),
              AllOf(StartsWith("[file] " + (folder / "missing").string() + ":"), HasSubstr("no such file")));
  EXPECT_THAT(error_of([&] { MappedFile file(folder.path()); }), HasSubstr("is a folder"));
  put(folder / "empty", "");
  EXPECT_THAT(error_with("empty"), HasSubstr("is empty"));
  EXPECT_THAT(error_with("empty/below"), HasSubstr("no such file"));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_with("pipe"), HasSubstr("device or pipe"));  // and does not wait for a writer
}

TEST(MappedFile, ForbiddenFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TemporaryFolder folder;
  put(folder / "x", "text");
  fs::permissions(folder / "x", fs::perms::none);
  EXPECT_THAT(error_of([&] { MappedFile file(folder / "x"); }), HasSubstr("no permission to read"));
  EXPECT_THAT(error_of([&] { read_text(folder / "x"); }), HasSubstr("no permission to read"));
}

TEST(ReadText, WholeFile) {
  const TemporaryFolder folder;
  std::string text;
  while (text.size() < 200000) text += std::to_string(text.size()) + '\n';  // several pieces
  put(folder / "x", text);
  EXPECT_EQ(read_text(folder / "x"), text);
  put(folder / "empty", "");
  EXPECT_EQ(read_text(folder / "empty"), "");
  EXPECT_THAT(error_of([&] { read_text(folder / "missing"); }), HasSubstr("no such file"));
  EXPECT_THAT(error_of([&] { read_text(folder.path()); }), HasSubstr("is a folder"));
}

TEST(ReadText, FileThatDoesNotKnowItsSize) {
  if (!fs::exists("/proc/self/status")) GTEST_SKIP() << "no /proc here";
  EXPECT_THAT(read_text("/proc/self/status"), HasSubstr("Name:"));
}

TEST(AtomicFile, WritesAndReplaces) {
  const TemporaryFolder folder;
  write_text(folder / "x", "first");
  EXPECT_EQ(read_text(folder / "x"), "first");
  const MappedFile old(folder / "x");
  AtomicFile file(folder / "x");
  file.write("sec");
  file.write(std::string_view());
  file.write("ond, and longer");
  EXPECT_EQ(read_text(folder / "x"), "first") << "visible before commit";
  file.commit();
  EXPECT_EQ(read_text(folder / "x"), "second, and longer");
  EXPECT_EQ(text_of(old.bytes()), "first") << "a map keeps what it mapped";
  EXPECT_EQ(files_in(folder.path()), 1) << "something temporary was left";
  EXPECT_THAT(error_of([&] { file.commit(); }), HasSubstr("commit() once"));
  EXPECT_THAT(error_of([&] { file.write("more"); }), HasSubstr("write before commit()"));
}

TEST(AtomicFile, WithoutCommitNothingChanges) {
  const TemporaryFolder folder;
  write_text(folder / "x", "old");
  try {
    AtomicFile file(folder / "x"), fresh(folder / "y");
    file.write("new");
    fresh.write("new");
    fail("stop");
  } catch (const Error&) {
  }
  EXPECT_EQ(read_text(folder / "x"), "old");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(AtomicFile, TwoWritersOfOnePath) {
  const TemporaryFolder folder;
  AtomicFile a(folder / "x"), b(folder / "x");
  a.write("from a");
  b.write("from b");
  b.commit();
  a.commit();
  EXPECT_EQ(read_text(folder / "x"), "from a");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(AtomicFile, Permissions) {
  const TemporaryFolder folder;
  const mode_t mask = ::umask(027);
  write_text(folder / "fresh", "x");
  ::umask(mask);
  EXPECT_EQ(fs::status(folder / "fresh").permissions(), fs::perms(0640));
  fs::permissions(folder / "fresh", fs::perms(0604));
  write_text(folder / "fresh", "y");
  EXPECT_EQ(fs::status(folder / "fresh").permissions(), fs::perms(0604)) << "an existing file's are kept";
}

TEST(AtomicFile, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const auto error_with = [](const fs::path& path) { return error_of([&] { write_text(path, "x"); }); };
  EXPECT_THAT(
      error_with(folder / "no/such/file"),
      AllOf(StartsWith("[file] " + (folder / "no/such/file").string() + ":"), HasSubstr("folder does not exist")));
  EXPECT_THAT(error_with(folder.path()), HasSubstr("is a folder"));
  EXPECT_THAT(error_with(folder / "x/"), HasSubstr("is a folder"));
  EXPECT_THAT(error_with("/dev/null"), HasSubstr("cannot be replaced"));
  EXPECT_EQ(files_in(folder.path()), 0);
}

TEST(AtomicFile, ForbiddenPlaces) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryFolder folder;
  put(folder / "x", "kept");
  fs::permissions(folder / "x", fs::perms(0400));
  EXPECT_THAT(error_of([&] { write_text(folder / "x", "y"); }), HasSubstr("write-protected"));
  fs::permissions(folder.path(), fs::perms(0500));
  EXPECT_THAT(error_of([&] { write_text(folder / "y", "y"); }), HasSubstr("no permission to write"));
  fs::permissions(folder.path(), fs::perms(0700));
  EXPECT_EQ(read_text(folder / "x"), "kept");
}

TEST(AtomicFile, LimitOnFileSize) {
  const TemporaryFolder folder;
  write_text(folder / "x", "old");
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  rlimit small = limit;
  small.rlim_cur = 10000;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string error = error_of([&] { write_text(folder / "x", std::string(50000, 'n')); });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(error, HasSubstr("the limit on a file's size is reached after 10.0 kB"));
  EXPECT_EQ(read_text(folder / "x"), "old");
  EXPECT_EQ(files_in(folder.path()), 1);
}

// Runs in a child of its own, which may mount where we may not: 0 passed, 1 failed, 2 cannot be tried here.
int fill_a_small_disk(const fs::path& place) {
  const std::string user = fmt::format("0 {} 1", ::geteuid()), group = fmt::format("0 {} 1", ::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 2;
  put("/proc/self/setgroups", "deny");
  put("/proc/self/uid_map", user);  // without owner and group no file can be created
  put("/proc/self/gid_map", group);
  if (::mount("none", place.c_str(), "tmpfs", 0, "size=65536") != 0) return 2;
  write_text(place / "x", "old");
  const std::string error = error_of([&] { write_text(place / "x", std::string(200000, 'n')); });
  const bool told = error.find("the disk is full after ") != std::string::npos;
  return told && read_text(place / "x") == "old" && files_in(place) == 1 ? 0 : 1;
}

TEST(AtomicFile, FullDisk) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int result = 1;
    try {
      result = fill_a_small_disk(folder.path());
    } catch (...) {
    }
    ::_exit(result);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "no small disk can be mounted here without being root";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(BytesText, Units) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(999), "999 bytes");
  EXPECT_EQ(bytes_text(1000), "1.0 kB");
  EXPECT_EQ(bytes_text(999949), "999.9 kB");
  EXPECT_EQ(bytes_text(999960), "1.0 MB");
  EXPECT_EQ(bytes_text(9300000000), "9.3 GB");
  EXPECT_EQ(bytes_text(UINT64_MAX), "18.4 EB");
}

}  // namespace
}  // namespace limpid
