#include "training/checkpoint.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "formats/model_folder.h"
#include "training/training_example.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Checkpoint, EveryBitComesBack) {
  const TemporaryFolder folder;
  TrainingExample a("marian_batch_norm"), b("marian_batch_norm", 2);  // with statistics, which have no moments
  for (int i = 0; i < 2; ++i) a.step();
  using limits = std::numeric_limits<real>;
  const real odd[] = {-real{0}, limits::denorm_min(), limits::infinity(), limits::quiet_NaN(), -limits::max()};
  std::copy(std::begin(odd), std::end(odd), a.parameters().data());
  std::copy(std::begin(odd), std::end(odd), a.optimizer.squares().begin());
  TrainingState state = a.state();
  state.progress = {{"step", 2}, {"big", UINT64_MAX}, {"best", 0.1 + 0.2}, {"a list", {1, 2.5}}, {"another", nullptr}};
  const fs::path path = write_checkpoint(folder.path(), checkpoint_name(2), state);
  EXPECT_EQ(path, folder / "step-000000002");

  TrainingState read = b.state();
  const auto resumed = read_last_checkpoint(folder.path(), read);
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->name, "step-000000002");
  EXPECT_THAT(resumed->notes, IsEmpty());
  EXPECT_TRUE(a.bits() == b.bits());
  EXPECT_EQ(b.optimizer.steps(), 2);
  EXPECT_EQ(read.progress.dump(), state.progress.dump());
}

TEST(Checkpoint, FivePlusFiveStepsAreTenBitForBit) {
  const TemporaryFolder folder;
  TrainingExample whole("gpt2"), first("gpt2"), second("gpt2", 2);
  for (int i = 0; i < 10; ++i) whole.step();
  for (int i = 0; i < 5; ++i) first.step();
  write_checkpoint(folder.path(), checkpoint_name(5), first.state());
  TrainingState state = second.state();
  read_checkpoint(folder / checkpoint_name(5), state);
  for (int i = 0; i < 5; ++i) second.step();
  EXPECT_TRUE(whole.bits() == second.bits());
  EXPECT_FALSE(whole.bits() == first.bits());
}

TEST(Checkpoint, IsAModelThatCanBeOpened) {
  const TemporaryFolder folder;
  TrainingExample example("llama");
  write_text(folder / "tokenizer.json", "{}");
  TrainingState state = example.state();
  state.beside = {folder / "tokenizer.json"};
  const fs::path path = write_checkpoint(folder / "checkpoints", "step-1", state);
  EXPECT_EQ(read_text(path / "tokenizer.json"), "{}");
  const auto model = make_model(load_config(path.string()));
  const MappedWeights weights(path, *model);
}

TEST(Checkpoint, AnAverageStartsFromTheWeightsWhereThereIsNone) {
  const TemporaryFolder folder;
  TrainingExample a("gpt2"), b("gpt2", 2);
  TrainingState state = a.state();
  state.average = {};
  write_checkpoint(folder.path(), "step-1", state);
  TrainingState read = b.state();
  read_checkpoint(folder / "step-1", read);
  for (const Weight& weight : b.parameters().weights())
    EXPECT_EQ(std::memcmp(b.average.get() + weight.offset, a.parameters().data(weight), weight.size() * sizeof(real)),
              0);
}

// What happens to files on disks and in copies.
void damage(const fs::path& path, const std::string& how) {
  std::string text = read_text(path);
  if (how == "changed") text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
  if (how == "cut") text.resize(text.size() / 2);
  fs::remove(path);
  if (how != "removed") std::ofstream(path) << text;
}

TEST(Checkpoint, DamageToAnyFileIsSeenAndTheOneBeforeIsTaken) {
  const TemporaryFolder folder;
  TrainingExample example("gpt2");
  TrainingState state = example.state();
  for (const char* name : {"step-1", "step-2"}) write_checkpoint(folder / "whole", name, state);
  const fs::path copies = folder / "copies";
  for (const char* file : {"model.safetensors", "config.json", "optimizer.safetensors", "average.safetensors",
                           "state.json", "manifest.json"})
    for (const char* how : {"changed", "cut", "removed"}) {
      fs::remove_all(copies);
      fs::copy(folder / "whole", copies, fs::copy_options::recursive);
      EXPECT_EQ(read_last_checkpoint(copies, state)->name, "step-2");
      damage(copies / "step-2" / file, how);
      EXPECT_THROW(verify_checkpoint(copies / "step-2"), Error) << file << " " << how;
      const auto resumed = read_last_checkpoint(copies, state);
      ASSERT_TRUE(resumed) << file << " " << how;
      EXPECT_EQ(resumed->name, "step-1");
      EXPECT_THAT(resumed->notes, ElementsAre(HasSubstr((copies / "step-2").string())));
    }
  damage(copies / "step-1" / "state.json", "changed");
  EXPECT_THAT(error_of([&] { read_last_checkpoint(copies, state); }), HasSubstr("none of the 2 checkpoints"));
  EXPECT_FALSE(read_last_checkpoint(folder / "nothing", state));
}

TEST(Checkpoint, WithoutItsPointerTheNewestIsFound) {
  const TemporaryFolder folder;
  TrainingExample example("gpt2");
  for (const char* name : {"step-9", "step-10"}) write_checkpoint(folder.path(), name, example.state());
  TrainingState state = example.state();
  for (const char* pointer : {"", "step-77\n", "../elsewhere\n"}) {
    write_text(folder / "last", pointer);
    const auto resumed = read_last_checkpoint(folder.path(), state);
    ASSERT_TRUE(resumed);
    EXPECT_EQ(resumed->name, "step-10");
    EXPECT_THAT(resumed->notes, ElementsAre(HasSubstr("/last: names ")));
  }
  fs::remove(folder / "last");  // as if killed after the first checkpoint, before the pointer
  const auto resumed = read_last_checkpoint(folder.path(), state);
  EXPECT_EQ(resumed->name, "step-10");
  EXPECT_THAT(resumed->notes, IsEmpty());
  point_at_checkpoint(folder.path(), "last", "step-9");  // as somebody does who goes back
  EXPECT_EQ(read_last_checkpoint(folder.path(), state)->name, "step-9");
}

TEST(Checkpoint, AnotherModelIsRefusedNotTakenForDamage) {
  const TemporaryFolder folder;
  TrainingExample gpt2("gpt2"), llama("llama");
  write_checkpoint(folder.path(), "step-1", gpt2.state());
  TrainingState state = llama.state();
  EXPECT_THAT(error_of([&] { read_last_checkpoint(folder.path(), state); }), HasSubstr("has no tensor"));
}

TEST(Checkpoint, ANameIsTakenOverByANewerOne) {
  const TemporaryFolder folder;
  TrainingExample example("gpt2"), other("gpt2", 2);
  write_checkpoint(folder.path(), "step-1", example.state());
  example.step();
  write_checkpoint(folder.path(), "step-1", example.state());
  TrainingState state = other.state();
  read_checkpoint(folder / "step-1", state);
  EXPECT_TRUE(example.bits() == other.bits());
  EXPECT_THAT(list_checkpoints(folder.path()), ElementsAre("step-1"));
  EXPECT_FALSE(fs::exists(folder / "step-1.replaced"));
}

// What no caller should ask for.
TEST(Checkpoint, WrongNamesAndNumbersAreRefused) {
  const TemporaryFolder folder;
  TrainingExample example("gpt2");
  TrainingState state = example.state();
  for (const char* name : {"", "last", "best", "../x", ".hidden", "a.partial-1", "a.replaced", "two\nlines"})
    EXPECT_THROW(write_checkpoint(folder.path(), name, state), Error) << name;
  state.progress["scores"] = {1.0, std::numeric_limits<double>::infinity()};
  EXPECT_THAT(error_of([&] { write_checkpoint(folder.path(), "step-1", state); }), HasSubstr("progress.scores.1"));
  state = example.state();
  state.average = state.average.first(3);
  EXPECT_THROW(write_checkpoint(folder.path(), "step-1", state), Error);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Checkpoint, AFailedWriteLeavesTheLastOneAndNothingElse) {
  const TemporaryFolder folder;
  TrainingExample example("gpt2");
  write_checkpoint(folder.path(), "step-1", example.state());
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t bytes : {0, 5000, 20000}) {  // stops at the weights or at the moments
    const rlimit small{.rlim_cur = bytes, .rlim_max = old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string error = error_of([&] { write_checkpoint(folder.path(), "step-2", example.state()); });
    ::setrlimit(RLIMIT_FSIZE, &old);
    EXPECT_THAT(error, AllOf(HasSubstr("step-2 could not be written (the last one that is good: step-1)"),
                             HasSubstr("limit on a file's size")));
  }
  std::signal(SIGXFSZ, before);
  EXPECT_THAT(list_checkpoints(folder.path()), ElementsAre("step-1"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2) << "step-1 and last";
  TrainingState state = example.state();
  EXPECT_EQ(read_last_checkpoint(folder.path(), state)->name, "step-1");
}

TEST(Checkpoint, TheMeanOfSeveralIsTakenInDouble) {
  const TemporaryFolder folder;
  TrainingExample a("gpt2"), b("gpt2", 2), c("gpt2", 3), mean("gpt2", 4);
  std::vector<fs::path> paths;
  for (TrainingExample* example : {&a, &b, &c}) {
    paths.push_back(folder / std::to_string(paths.size()));
    make_folder(paths.back());
    write_model(paths.back(), example->small.model->config(), example->parameters(), kRealType);
  }
  average_checkpoints(paths, mean.parameters());
  for (const Weight& weight : mean.parameters().weights())
    for (int64_t i = 0; i < weight.size(); ++i) {
      const double sum = static_cast<double>(a.parameters().data(weight)[i]) +
                         static_cast<double>(b.parameters().data(weight)[i]) +
                         static_cast<double>(c.parameters().data(weight)[i]);
      ASSERT_EQ(mean.parameters().data(weight)[i], static_cast<real>(sum / 3)) << weight.name;
    }
  EXPECT_THROW(average_checkpoints({}, mean.parameters()), Error);
}

}  // namespace
}  // namespace limpid
