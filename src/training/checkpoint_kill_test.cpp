// kill -9 at random moments: no checkpoint may ever be seen that cannot be read, nothing may be lost that "last" named,
// and the log has every line once.

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "base/temporary_folder.h"
#include "training/event_log.h"
#include "training/run_folder.h"
#include "training/training_example.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "LIMPID_KILL_TEST_FOLDER";

// A run that goes on from where the folder stands and saves after every step, until it is killed.
TEST(KilledRun, DISABLED_Child) {
  const char* const path = std::getenv(kVariable);
  ASSERT_NE(path, nullptr) << "started by the test below";
  const RunFolder folder(path);
  remove_unfinished(folder.checkpoints());
  TrainingExample example("gpt2");
  TrainingState state = example.state();
  read_last_checkpoint(folder.checkpoints(), state);
  EventLog log(folder.log(), example.optimizer.steps() > 0 ? example.optimizer.steps() : -1);
  for (;;) {
    example.step();
    log.write({{"step", example.optimizer.steps()}});
    write_checkpoint(folder.checkpoints(), checkpoint_name(example.optimizer.steps()), example.state());
    prune_checkpoints(folder.checkpoints(), {.last = 2});
  }
}

pid_t start_child(const fs::path& folder) {
  ::setenv(kVariable, folder.c_str(), 1);
  std::string program = "/proc/self/exe", filter = "--gtest_filter=KilledRun.DISABLED_Child",
              disabled = "--gtest_also_run_disabled_tests", brief = "--gtest_brief=1";
  char* const arguments[] = {program.data(), filter.data(), disabled.data(), brief.data(), nullptr};
  pid_t child = -1;
  check(::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ) == 0, "[test] cannot start");
  return child;
}

// Lets the child work until it has saved something, whatever the load of the machine, and then for a random while more;
// half of them die young instead, perhaps before they have read what is there.
void wait_for_a_random_moment(const fs::path& folder, Random& random) {
  const fs::path pointer = folder / "checkpoints" / "last";
  const auto text = [&] { return fs::exists(pointer) ? read_text(pointer) : std::string(); };
  const std::string before = text();
  const bool young = random.uniform() < 0.5;
  for (int i = 0; !young && i < 30'000 && text() == before; ++i) ::usleep(1000);
  ::usleep(static_cast<useconds_t>((young ? 200'000 : 40'000) * random.uniform()));
}

TEST(KilledRun, NoCheckpointIsEverUnreadable) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary / "run";
  const char* const asked = std::getenv("LIMPID_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 6;
  Random random(static_cast<uint64_t>(kills));
  int64_t reached = 0;
  for (int kill = 0; kill < kills; ++kill) {
    const pid_t child = start_child(folder);
    wait_for_a_random_moment(folder, random);
    ASSERT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "the child ended by itself";
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);

    for (const std::string& name : list_checkpoints(folder / "checkpoints"))
      EXPECT_NO_THROW(verify_checkpoint(folder / "checkpoints" / name));
    remove_unfinished(folder / "checkpoints");
    TrainingExample example("gpt2");
    TrainingState state = example.state();
    const auto resumed = read_last_checkpoint(folder / "checkpoints", state);
    EXPECT_TRUE(!resumed || resumed->notes.empty());
    EXPECT_GE(example.optimizer.steps(), reached) << "steps were lost";
    reached = example.optimizer.steps();
    if (reached == 0) continue;
    const EventLog log(folder / "log.jsonl", reached);
    std::string expected;
    for (int64_t step = 1; step <= reached; ++step) expected += fmt::format("{{\"step\":{}}}\n", step);
    EXPECT_EQ(read_text(folder / "log.jsonl"), expected);
  }
  RecordProperty("steps", static_cast<int>(reached));
  EXPECT_GT(reached, 0);
  TrainingExample whole("gpt2"), saved("gpt2", 2);
  for (int64_t step = 0; step < reached; ++step) whole.step();
  TrainingState state = saved.state();
  read_last_checkpoint(folder / "checkpoints", state);
  EXPECT_TRUE(whole.bits() == saved.bits()) << "not what a run without interruption gives";
}

}  // namespace
}  // namespace limpid
