#include "training/event_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "training/run_log.h"

namespace limpid {
namespace {

std::string log_after(const std::filesystem::path& path, int64_t step, int64_t dropped) {
  const EventLog log(path, step);
  EXPECT_EQ(log.dropped(), dropped);
  return read_text(path);
}

TEST(EventLog, HasEveryLineAtOnce) {
  const TemporaryFolder folder;
  EventLog log(folder / "log.jsonl", -1);
  log.write({{"step", 1}, {"loss", 2.5}});
  EXPECT_EQ(read_text(folder / "log.jsonl"), "{\"step\":1,\"loss\":2.5}\n");
  log.write({{"step", 2}, {"loss", std::nan("")}, {"text", "two\nlines \xff"}});
  log.sync();
  EXPECT_EQ(read_text(folder / "log.jsonl"),
            "{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"loss\":null,\"text\":\"two\\nlines \xef\xbf\xbd\"}\n");
  EXPECT_THROW(log.write({{"loss", 2.5}}), Error);
  EXPECT_THROW(log.write({{"step", "3"}}), Error);
}

TEST(EventLog, ResumingForgetsWhatComesAgain) {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl";
  const std::string first =
      "{\"step\":0,\"event\":\"start\"}\n{\"step\":10}\n{\"step\":20}\n{\"step\":20,\"bleu\":3}\n";
  write_text(path, first + "{\"step\":30}\n{\"step\":40}\n{\"step\":5");
  EXPECT_EQ(log_after(path, 40, 1), first + "{\"step\":30}\n{\"step\":40}\n");
  EXPECT_EQ(log_after(path, 20, 2), first);
  EXPECT_EQ(log_after(path, 20, 0), first);
  EXPECT_EQ(log_after(path, 9, 3), "{\"step\":0,\"event\":\"start\"}\n");
  EXPECT_EQ(log_after(path, -1, 1), "");
}

TEST(EventLog, LinesOfOthersStay) {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl";
  const std::string text = "a note by hand\n{\"step\":1}\n[3]\n\n{\"step\":1.5}\n";
  write_text(path, text + "{\"step\":2}\n");
  EXPECT_EQ(log_after(path, 1, 1), text);
}

// A file's size is limited, which stops a line half way just as a full disk does.
TEST(EventLog, ALineThatDoesNotFitLeavesNoPart) {
  const TemporaryFolder folder;
  EventLog log(folder / "log.jsonl", -1);
  log.write({{"step", 1}});
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 20, .rlim_max = old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(log.write({{"step", 2}, {"text", "longer than what is left"}}), Error);
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);
  log.write({{"step", 3}});
  EXPECT_EQ(read_text(folder / "log.jsonl"), "{\"step\":1}\n{\"step\":3}\n");
}

TEST(RunLog, IsReadUpToWhatACrashLeftAndRefusesWhatIsNone) {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl";
  write_text(path, "{\"event\":\"step\",\"step\":10,\"loss\":2.5,\"seconds\":3}\n{\"event\":\"st");
  const RunLog log = read_run_log(folder.path());
  EXPECT_EQ(log.step, 10);
  EXPECT_EQ(log.curves.at("loss").values, std::vector<double>{2.5});
  for (const char* wrong : {"{\"event\":5}", "{\"event\":\"step\",\"seconds\":\"x\"}"}) {
    write_text(path, wrong);
    EXPECT_THROW(read_run_log(path), Error) << wrong;
  }
  write_text(path, std::string(1000, '[') + "\n");
  EXPECT_THROW(read_run_log(path), Error);
}

}  // namespace
}  // namespace limpid
