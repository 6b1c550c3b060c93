// Checkpoints on a disk that is full: a small file system in memory, which only the superuser can make.

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "training/event_log.h"
#include "training/training_example.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// A disk of one megabyte, seen by this process only.
class SmallDisk {
 public:
  SmallDisk() {
    mounted_ = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               ::mount("limpid-test", folder_.path().c_str(), "tmpfs", 0, "size=1m") == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const fs::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  bool mounted_ = false;
};

TEST(FullDisk, TheLastGoodCheckpointStandsAndTheRunGoesOnWhenThereIsRoom) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "no right to mount a small disk: run as the superuser";
  const fs::path checkpoints = disk.path() / "checkpoints";
  TrainingExample example("gpt2");
  EventLog log(disk.path() / "log.jsonl", -1);
  std::string error, last;
  for (int step = 1; step <= 100 && error.empty(); ++step) {
    try {
      write_checkpoint(checkpoints, checkpoint_name(step), example.state());
      last = checkpoint_name(step);
    } catch (const Error& caught) {
      error = caught.what();
    }
  }
  EXPECT_THAT(error, HasSubstr("the last one that is good: " + last));
  EXPECT_THAT(error, HasSubstr("the disk is full"));
  remove_unfinished(checkpoints);
  TrainingState state = example.state();
  const auto resumed = read_last_checkpoint(checkpoints, state);
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->name, last);
  EXPECT_THAT(resumed->notes, testing::IsEmpty());

  // The log, too, keeps whole lines only.
  const std::string text(5000, 'x');
  const auto fill = [&] {
    for (int step = 1; step < 1000; ++step) log.write({{"step", step}, {"text", text}});
  };
  EXPECT_THROW(fill(), Error);
  EXPECT_EQ(read_text(disk.path() / "log.jsonl").back(), '\n');

  prune_checkpoints(checkpoints, {.last = 1});
  EXPECT_THAT(list_checkpoints(checkpoints), ElementsAre(last));
  write_checkpoint(checkpoints, checkpoint_name(101), example.state());
  EXPECT_EQ(read_last_checkpoint(checkpoints, state)->name, checkpoint_name(101));
}

}  // namespace
}  // namespace limpid
