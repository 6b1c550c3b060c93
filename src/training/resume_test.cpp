#include "training/resume.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "training/checkpoint_folder.h"
#include "training/trainer_fixture.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ResumeTest : public TrainerTest {
 protected:
  // The same run with another last step; checkpoints and validations fall on other steps than the ends.
  Recipe until(int64_t steps, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"stop.steps=" + std::to_string(steps), "checkpoint.steps=4", "validation.steps=3"});
    return corpus_.recipe("gpt2", more);
  }
  // Replaces the byte in the middle of a file of the run.
  void damage(const std::string& file) const {
    std::string text = bytes(file);
    text[text.size() / 2] ^= 1;
    write_text(corpus_ / file, text);
  }
};

// ---- the end of a run

TEST_F(ResumeTest, ALaterEndGoesOnFromTheLastStepBitForBit) {
  run(until(17), "whole");
  run(until(10), "parts");
  EXPECT_EQ(checkpoint_pointed_at(corpus_ / "parts/checkpoints", "last"), "extra-000000010");
  const TrainingResult longer = run(until(17), "parts");
  EXPECT_EQ(listener_.resumed, 10);
  EXPECT_EQ(longer.steps, 17);
  for (const char* file : {"checkpoints/extra-000000017/model.safetensors",
                           "checkpoints/extra-000000017/optimizer.safetensors", "model.safetensors"})
    EXPECT_TRUE(bytes(std::string("whole/") + file) == bytes(std::string("parts/") + file)) << file;
}

TEST_F(ResumeTest, DrawnSegmentationsAreThoseOfTheWholeRun) {
  const auto sampled = [&](int64_t steps, const char* alpha) {
    return corpus_.recipe("marian",
                          {"stop.steps=" + std::to_string(steps), "tokenizer.kind=unigram", "tokenizer.vocab=40",
                           "tokenizer.byte_fallback=false", std::string("tokenizer.sampling=") + alpha});
  };
  run(sampled(8, "0.3"), "whole");
  run(sampled(5, "0.3"), "parts");
  run(sampled(8, "0.3"), "parts");
  EXPECT_EQ(listener_.resumed, 5);
  EXPECT_TRUE(bytes("whole/model.safetensors") == bytes("parts/model.safetensors"));
  run(sampled(8, "0"), "best");
  EXPECT_TRUE(bytes("whole/data/train.tokens") == bytes("best/data/train.tokens"));
  EXPECT_FALSE(bytes("whole/model.safetensors") == bytes("best/model.safetensors"));
  EXPECT_THAT(error_of(sampled(9, "0.1"), "whole"), HasSubstr("tokenizer.sampling 0.3 → 0.1"));
}

// However quick the machine and whatever the clock that ends a run, so that every machine trains the same model.
TEST_F(ResumeTest, TheLearningRateDependsOnTheStepAlone) {
  const std::vector<std::string> keys = {"schedule.kind=linear", "stop.minutes=0.02", "stop.steps=1000000"};  // 1.2 s
  run(corpus_.recipe("gpt2", keys), "late");
  ASSERT_GT(listener_.steps.size(), 10u);
  EXPECT_LT(listener_.steps.back().step, 1000000);
  for (const auto& one : listener_.steps)
    EXPECT_NEAR(one.learning_rate, 0.01 * (1 - static_cast<double>(one.step) / 1e6), 1e-9);
  run(until(10, {"schedule.kind=linear", "stop.minutes=100"}), "early");
  EXPECT_NEAR(listener_.steps.at(4).learning_rate, 0.01 * 0.5, 1e-9);
}

TEST_F(ResumeTest, AnEarlierEndChangesNothingAndSaysSo) {
  run(until(10), "run");
  const std::string model = bytes("run/model.safetensors"), recipe = bytes("run/recipe.toml");
  const TrainingResult again = run(until(5), "run");
  EXPECT_TRUE(again.was_finished);
  EXPECT_EQ(again.steps, 10);
  EXPECT_TRUE(listener_.steps.empty());
  EXPECT_TRUE(bytes("run/model.safetensors") == model);
  EXPECT_EQ(bytes("run/recipe.toml"), recipe);

  run(until(20), "alive", 8);
  EXPECT_THAT(error_of(until(5), "alive"), AllOf(HasSubstr("has done 8 steps"), HasSubstr("nothing was changed")));
  EXPECT_EQ(run(until(8), "alive").steps, 8);  // here it can end
}

TEST_F(ResumeTest, AFinishedModelIsReplacedByNothingWorse) {
  const TrainingResult first = run(until(10), "run");
  const std::string model = bytes("run/model.safetensors");
  accepts_changes_ = true;  // runs away from here on
  const TrainingResult longer = run(until(16, {"schedule.learning_rate=3"}), "run");
  EXPECT_EQ(longer.best_step, first.best_step);
  EXPECT_DOUBLE_EQ(longer.final.loss, first.final.loss);
  EXPECT_TRUE(bytes("run/model.safetensors") == model);
}

TEST_F(ResumeTest, AModelWithoutItsCheckpointsIsNeverWrittenOver) {
  run(until(10), "run");
  fs::remove_all(corpus_ / "run/checkpoints");
  const std::string model = bytes("run/model.safetensors");
  EXPECT_THAT(error_of(until(10), "run"), AllOf(HasSubstr("not the checkpoints"), HasSubstr("start_from=")));
  EXPECT_TRUE(bytes("run/model.safetensors") == model);
}

TEST_F(ResumeTest, ACosineSaysThatItIsStretched) {
  run(until(10, {"schedule.kind=cosine"}), "run");
  run(until(20, {"schedule.kind=cosine"}), "run");
  ASSERT_EQ(listener_.notes.size(), 1u);
  EXPECT_THAT(listener_.notes[0], HasSubstr("with 20 steps instead of 10 the learning rate goes on at"));
}

TEST_F(ResumeTest, AMeanOfCheckpointsReplacesNothingBetterEither) {
  const TrainingResult first = run(until(10, {"checkpoint.average=2"}), "run");
  const std::string model = bytes("run/model.safetensors");
  accepts_changes_ = true;
  const TrainingResult longer = run(until(16, {"checkpoint.average=2", "schedule.learning_rate=3"}), "run");
  EXPECT_DOUBLE_EQ(longer.final.loss, first.final.loss);
  EXPECT_TRUE(bytes("run/model.safetensors") == model);
  ASSERT_EQ(listener_.notes.size(), 1u);
  EXPECT_THAT(listener_.notes[0], AllOf(HasSubstr("The mean of the last checkpoints"), HasSubstr("which stays")));
}

// A kill between the checkpoint with the best weights and the model that they are.
TEST_F(ResumeTest, TheBestWeightsBecomeTheModelWhenTheRunGoesOn) {
  run(until(12), "whole");
  run(until(12), "run", 6);
  const std::string best = "run/checkpoints/best";
  ASSERT_EQ(bytes(best), "extra-000000006\n");
  write_text(corpus_ / best, "extra-000000003\n");
  fs::remove(corpus_ / "run/model.safetensors");
  run(until(12), "run", 7);
  EXPECT_TRUE(fs::exists(corpus_ / "run/model.safetensors"));
  EXPECT_EQ(bytes(best), "extra-000000006\n");
}

// ---- settings

TEST_F(ResumeTest, SettingsThatChangeTheResultAreNamedAndNeedConsent) {
  run(until(20), "run", 5);
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"schedule.learning_rate=0.02", "schedule.learning_rate 0.01 → 0.02"},
      {"model.resid_pdrop=0.3", "model.resid_pdrop 0.0 → 0.3"},
      {"optimizer.kind=adamw", "optimizer.kind \"adam\" → \"adamw\""},
      {"batch.tokens=48", "batch.tokens 64 → 48"},
      {"batch.accumulate=2", "batch.accumulate 1 → 2"},
      {"checkpoint.ema=0.5", "checkpoint.ema 0.0 → 0.5"},
      {"checkpoint.average=2", "checkpoint.average 0 → 2"},
  };
  for (const auto& [override, told] : changes)
    EXPECT_THAT(error_of(until(20, {override}), "run"), HasSubstr(told)) << override;
  EXPECT_EQ(error_of(until(20, {"decode.beam=2", "checkpoint.keep=5", "validation.show=1"}), "run"), "no error");
}

TEST_F(ResumeTest, AnAcceptedChangeIsInTheLog) {
  run(until(20), "run", 5);
  accepts_changes_ = true;
  EXPECT_EQ(run(until(20, {"schedule.learning_rate=0.02"}), "run").steps, 20);
  EXPECT_EQ(listener_.steps.front().learning_rate, 0.02);
  EXPECT_THAT(bytes("run/log.jsonl"), HasSubstr("schedule.learning_rate 0.01 → 0.02"));
}

TEST_F(ResumeTest, SettingsThatNobodyKnowsNeedConsentToo) {
  run(until(20), "run", 5);
  fs::remove(corpus_ / "run/recipe.toml");
  EXPECT_THAT(error_of(until(20, {"schedule.learning_rate=0.02"}), "run"), HasSubstr("recipe.toml, which says what"));
  accepts_changes_ = true;
  EXPECT_EQ(run(until(20), "run").steps, 20);
}

// ---- files of the run

TEST_F(ResumeTest, DamagedIdsAndTokenizersAreNoticed) {
  for (const char* file : {"run/data/train.tokens", "run/data/valid.tokens", "run/data/train.index",
                           "run/data/valid.index", "run/tokenizer.json"}) {
    fs::remove_all(corpus_ / "run");
    run(until(20), "run", 5);
    damage(file);
    EXPECT_THAT(error_of(until(20), "run"), AllOf(HasSubstr(file), HasSubstr("[data]"))) << file;
  }
  fs::remove_all(corpus_ / "run/data");
  EXPECT_THAT(error_of(until(20), "run"), HasSubstr("tokenizer.json: has changed since the run began"));
}

TEST_F(ResumeTest, DataThatWasDeletedIsMadeAgainFromTheSameTextOnly) {
  run(until(12), "whole");
  run(until(12), "run", 5);
  fs::remove_all(corpus_ / "run/data");
  run(until(12), "run", 8);
  EXPECT_EQ(listener_.resumed, 5);
  fs::remove_all(corpus_ / "run/data");
  corpus_.write("source", ToyCorpus::random_lines(40, 77));
  EXPECT_THAT(error_of(until(12), "run"), HasSubstr("source has other contents"));
  EXPECT_THAT(error_of(until(12, {"tokenizer.min_count=2"}), "run"), HasSubstr("tokenizer.min_count was 1 and is 2"));
}

TEST_F(ResumeTest, AFolderOfVersion01GoesOn) {
  run(until(12), "whole");
  run(until(12), "run", 5);
  nlohmann::json old = read_json(corpus_ / "run/training.json");
  const std::string source = old["dataset"]["train"][0]["xxh64"], valid = old["dataset"]["valid"][0]["xxh64"];
  old["dataset"] = "0123456789abcdef";
  old["files_xxh64"] = {{"source", source}, {"valid", valid}};
  write_text(corpus_ / "run/training.json", old.dump());
  nlohmann::json data = read_json(corpus_ / "run/data/dataset.json");
  data.erase("made_from");
  data.erase("checksums");
  write_text(corpus_ / "run/data/dataset.json", data.dump());
  run(until(12), "run");
  EXPECT_EQ(listener_.resumed, 5);
  EXPECT_TRUE(bytes("whole/model.safetensors") == bytes("run/model.safetensors"));
}

TEST_F(ResumeTest, ARunStopsWhenItsFolderIsTakenAway) {
  for (const bool moved : {true, false}) {
    fs::remove_all(corpus_ / "run");
    fs::remove_all(corpus_ / "elsewhere");
    RunFolder folder(corpus_ / "run");
    const auto take_away = [&] {
      if (moved)
        fs::rename(corpus_ / "run", corpus_ / "elsewhere");
      else
        fs::remove(corpus_ / "run/lock");
      return false;
    };
    try {
      train(until(20), folder, listener_, {.interrupted = take_away});
      FAIL() << "went on";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("the folder was moved or its lock removed"));
    }
    EXPECT_FALSE(moved && fs::exists(corpus_ / "run"));
  }
}

// Between two updates, and in the last validation, after which only the end is written.
TEST_F(ResumeTest, AFolderTakenAwayInAValidationIsNotMadeAgain) {
  for (const int64_t at : {3, 20}) {
    fs::remove_all(corpus_ / "run");
    fs::remove_all(corpus_ / "elsewhere");
    RunFolder folder(corpus_ / "run");
    const auto take_away = [&](const Model&, const Dataset&, int64_t step) {
      if (step == at) fs::rename(corpus_ / "run", corpus_ / "elsewhere");
    };
    try {
      train(until(20), folder, listener_, {.validated = take_away});
      FAIL() << "went on";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("the folder was moved or its lock removed"));
    }
    EXPECT_FALSE(fs::exists(corpus_ / "run"));
  }
}

}  // namespace
}  // namespace limpid
