#include "training/checkpoint_folder.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

void make(const fs::path& path, const std::string& content) {
  fs::create_directories(path);
  write_text(path / "content", content);
}

std::string content(const fs::path& path) { return read_text(path / "content"); }

TEST(CheckpointFolder, ListsInTheOrderOfNumbers) {
  const TemporaryFolder folder;
  EXPECT_THAT(list_checkpoints(folder / "nothing"), IsEmpty());
  for (const char* name :
       {"step-100", "step-9", "extra-50", "final", "step-000000070", ".hidden", "step-1.partial-77", "step-2.replaced"})
    make(folder / name, "");
  write_text(folder / "file-3", "");
  EXPECT_THAT(list_checkpoints(folder.path()),
              ElementsAre("final", "step-9", "extra-50", "step-000000070", "step-100"));
  EXPECT_LT(checkpoint_name(999), checkpoint_name(1000));
}

TEST(CheckpointFolder, PointersNameWhatIsThere) {
  const TemporaryFolder folder;
  make(folder / "step-1", "");
  EXPECT_FALSE(checkpoint_pointed_at(folder.path(), "best"));
  point_at_checkpoint(folder.path(), "best", "step-1");
  EXPECT_EQ(checkpoint_pointed_at(folder.path(), "best"), "step-1");
  EXPECT_EQ(read_text(folder / "best"), "step-1\n");
  EXPECT_THROW(point_at_checkpoint(folder.path(), "best", "step-2"), Error);
  EXPECT_THROW(point_at_checkpoint(folder.path(), "best", "."), Error);
  EXPECT_EQ(checkpoint_pointed_at(folder.path(), "best"), "step-1");
}

// Every state that a kill between two steps of put_in_place() or of pruning can leave.
TEST(CheckpointFolder, TheStartTakesAwayWhatAKillLeft) {
  const TemporaryFolder folder;
  make(folder / "step-1", "good");
  make(folder / "step-2.partial-17", "half");
  make(folder / "step-3.replaced", "former");  // killed before the new step-3 had its name
  make(folder / "step-3.partial-17", "new");
  make(folder / "step-4", "new");  // killed before the former one was gone
  make(folder / "step-4.replaced", "former");
  write_text(folder / ".limpid-17-0.part", "st");  // killed while a pointer was written
  point_at_checkpoint(folder.path(), "last", "step-1");
  for (int i = 0; i < 2; ++i) remove_unfinished(folder.path());
  EXPECT_THAT(list_checkpoints(folder.path()), ElementsAre("step-1", "step-3", "step-4"));
  EXPECT_EQ(content(folder / "step-1"), "good");
  EXPECT_EQ(content(folder / "step-3"), "former");
  EXPECT_EQ(content(folder / "step-4"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 4) << "three and last";
  remove_unfinished(folder / "nothing");
}

TEST(CheckpointFolder, KeepsTheLastTheBestAndTheNamed) {
  const TemporaryFolder folder;
  for (int step = 10; step <= 80; step += 10) make(folder / checkpoint_name(step), "");
  make(folder / "final", "");
  make(folder / "step-5.partial-1", "");
  point_at_checkpoint(folder.path(), "best", checkpoint_name(20));
  point_at_checkpoint(folder.path(), "last", checkpoint_name(70));  // 80 is of a future that was given up
  const auto removed = prune_checkpoints(folder.path(), {.last = 2, .names = {checkpoint_name(40), "step-7"}});
  EXPECT_THAT(removed, ElementsAre(checkpoint_name(10), checkpoint_name(30), checkpoint_name(50)));
  EXPECT_THAT(list_checkpoints(folder.path()),
              ElementsAre("final", checkpoint_name(20), checkpoint_name(40), checkpoint_name(60), checkpoint_name(70),
                          checkpoint_name(80)));
  prune_checkpoints(folder.path(), {.last = 0});
  EXPECT_THAT(list_checkpoints(folder.path()),
              ElementsAre("final", checkpoint_name(20), checkpoint_name(70), checkpoint_name(80)));
  EXPECT_THAT(prune_checkpoints(folder.path(), {.last = 9}), IsEmpty());
}

}  // namespace
}  // namespace limpid
