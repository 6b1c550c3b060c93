#include "training/trainer.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "training/checkpoint_folder.h"
#include "training/trainer_fixture.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// ---- going on

TEST_F(TrainerTest, FiveAndFiveStepsAreTenBitForBit) {
  const std::vector<std::string> settings = {
      "checkpoint.steps=10", "checkpoint.ema=0.9",      "batch.accumulate=2",
      "model.dropout=0.2",   "schedule.kind=cosine",    "optimizer.weight_decay=0.1",
      "batch.tokens=40",     "optimizer.clip_norm=0.5", "validation.steps=3"};
  const Recipe recipe = corpus_.recipe("marian", settings);
  EXPECT_EQ(run(recipe, "whole").steps, 10);
  EXPECT_GT(listener_.steps.back().epoch, 1);  // the order of several epochs is gone on with
  EXPECT_TRUE(run(recipe, "parts", 2).interrupted);
  EXPECT_TRUE(run(recipe, "parts", 5).interrupted);
  EXPECT_EQ(listener_.resumed, 2);
  EXPECT_FALSE(run(recipe, "parts").interrupted);
  EXPECT_EQ(listener_.resumed, 5);
  for (const char* file :
       {"checkpoints/step-000000010/model.safetensors", "checkpoints/step-000000010/optimizer.safetensors",
        "checkpoints/step-000000010/average.safetensors", "model.safetensors", "config.json"})
    EXPECT_TRUE(bytes(std::string("whole/") + file) == bytes(std::string("parts/") + file)) << file;
  EXPECT_FALSE(bytes("whole/checkpoints/step-000000010/average.safetensors") ==
               bytes("whole/checkpoints/step-000000010/model.safetensors"));
}

TEST_F(TrainerTest, MaskedTokensAreGoneOnWithToo) {
  const Recipe recipe = corpus_.recipe("bert", {"checkpoint.steps=6", "stop.steps=6"});
  run(recipe, "whole");
  run(recipe, "parts", 3);
  run(recipe, "parts");
  EXPECT_EQ(listener_.resumed, 3);
  EXPECT_TRUE(bytes("whole/model.safetensors") == bytes("parts/model.safetensors"));
}

TEST_F(TrainerTest, AFinishedRunEndsAtOnceWithTheSameModel) {
  const Recipe recipe = corpus_.recipe("gpt2", {"checkpoint.steps=5", "validation.steps=5"});
  const TrainingResult first = run(recipe, "run");
  const std::string model = bytes("run/model.safetensors");
  const TrainingResult again = run(recipe, "run");
  EXPECT_FALSE(first.was_finished);
  EXPECT_TRUE(again.was_finished);
  EXPECT_TRUE(listener_.steps.empty());
  EXPECT_TRUE(listener_.validations.empty());
  EXPECT_EQ(again.steps, 10);
  EXPECT_EQ(again.best_step, first.best_step);
  EXPECT_DOUBLE_EQ(again.final.loss, first.final.loss);
  EXPECT_TRUE(bytes("run/model.safetensors") == model);
}

TEST_F(TrainerTest, ACheckpointOfAnotherModelIsRefusedAndTheModelStaysAsItWas) {
  run(corpus_.recipe("gpt2", {"checkpoint.steps=5"}), "run");
  const std::string config = bytes("run/config.json");
  const Recipe other = corpus_.recipe("gpt2", {"checkpoint.steps=5", "model.n_embd=8"});
  EXPECT_THAT(error_of(other, "run"), HasSubstr("model.n_embd 16 → 8"));
  accepts_changes_ = true;
  EXPECT_THAT(error_of(other, "run"), HasSubstr("shape"));
  EXPECT_EQ(bytes("run/config.json"), config);
  EXPECT_EQ(config_of("run").width, 16);
}

// ---- what an update is

double largest_difference(const std::map<std::string, std::vector<real>>& a,
                          const std::map<std::string, std::vector<real>>& b) {
  double most = 0;
  for (const auto& [name, numbers] : a)
    for (size_t i = 0; i < numbers.size(); ++i)
      most = std::max(most, std::abs(static_cast<double>(numbers[i]) - static_cast<double>(b.at(name)[i])));
  return most;
}

// Where the corpus is one large batch or two small ones, sums are the same up to rounding. A large eps keeps Adam from
// making steps of the rounding of gradients that are zero.
TEST_F(TrainerTest, TwoAccumulatedBatchesAreOneLargeBatch) {
  const auto lines = ToyCorpus::random_lines(8, 9);
  corpus_.write("source", lines);
  corpus_.write("target", lines);
  const std::vector<std::string> common = {"stop.steps=4", "batch.tokens=0", "optimizer.eps=0.001"};
  const auto with = [&](std::initializer_list<std::string> settings) {
    std::vector<std::string> all = common;
    all.insert(all.end(), settings);
    return corpus_.recipe("marian", all);
  };
  run(with({"batch.sequences=8"}), "one");
  run(with({"batch.sequences=4", "batch.accumulate=2"}), "two");
  run(with({"batch.sequences=4"}), "half");
  EXPECT_LT(largest_difference(weights("one"), weights("two")), 2e-6);
  EXPECT_GT(largest_difference(weights("one"), weights("half")), 1e-3);
}

TEST_F(TrainerTest, FrozenParametersStayBitForBitWhileOthersMove) {
  run(corpus_.recipe("marian"), "before");
  for (const char* average : {"0", "0.9"}) {
    const std::string name = std::string("after") + average;
    run(corpus_.recipe("marian", {"start_from=" + (corpus_ / "before").string(), "optimizer.weight_decay=0.1",
                                  "optimizer.freeze=[\"model.encoder.*\", \"*.fc2.bias\"]",
                                  std::string("checkpoint.ema=") + average}),
        name);
    const auto before = weights("before"), after = weights(name);
    int frozen = 0, moved = 0;
    for (const auto& [weight, numbers] : before) {
      const bool stays = weight.starts_with("model.encoder.") || weight.ends_with(".fc2.bias");
      EXPECT_EQ(after.at(weight) == numbers, stays) << weight;
      ++(stays ? frozen : moved);
    }
    EXPECT_GT(frozen, 10);
    EXPECT_GT(moved, 10);
  }
  EXPECT_THAT(error_of(corpus_.recipe("marian", {"optimizer.freeze=encodr.*"}), "wrong"), HasSubstr("encodr.*"));
}

TEST_F(TrainerTest, WeightDecayLeavesBiasesAndGainsAlone) {
  run(corpus_.recipe("marian"), "start");  // so that no bias is zero
  const auto one_step = [&](const std::string& decay) {
    run(corpus_.recipe("marian", {"stop.steps=1", "optimizer.kind=adamw", "optimizer.weight_decay=" + decay,
                                  "start_from=" + (corpus_ / "start").string()}),
        "decay" + decay);
    return weights("decay" + decay);
  };
  const auto without = one_step("0"), with = one_step("0.5");
  int vectors = 0;
  for (const auto& [name, numbers] : without) {
    const bool vector = name.ends_with("bias") || name.find("norm") != std::string::npos;
    EXPECT_EQ(with.at(name) == numbers, vector) << name;
    vectors += vector;
  }
  EXPECT_GT(vectors, 10);
  EXPECT_LT(vectors, static_cast<int>(without.size()));
}

// ---- what is kept

TEST_F(TrainerTest, StopsEarlyWhereNothingGetsBetter) {
  const Recipe recipe = corpus_.recipe(
      "gpt2", {"stop.steps=100", "stop.patience=2", "validation.steps=3", "schedule.learning_rate=5"});  // runs away
  const TrainingResult result = run(recipe, "run");
  EXPECT_THAT(result.why, HasSubstr("no better score in 2 validations"));
  EXPECT_EQ(result.steps, result.best_step + 6);
  EXPECT_EQ(static_cast<int64_t>(listener_.validations.size()), result.steps / 3);
  EXPECT_DOUBLE_EQ(result.final.loss, result.best);  // the best is what was written
  EXPECT_EQ(checkpoint_pointed_at(corpus_ / "run/checkpoints", "best"),
            "extra-" + checkpoint_name(result.best_step).substr(5));
}

TEST_F(TrainerTest, OfEqualScoresTheLowerLossIsTheBest) {
  const TrainingResult result = run(
      corpus_.recipe("marian", {"stop.steps=4", "validation.steps=1", "validation.metric=exact", "stop.patience=9"}),
      "run");
  ASSERT_EQ(listener_.validations.size(), 4u);
  for (const ValidationReport& report : listener_.validations) ASSERT_EQ(report.exact, 0);
  EXPECT_LT(listener_.validations[3].loss, listener_.validations[0].loss);
  EXPECT_EQ(result.best_step, 4);
  // Patience counts scores: here three validations had none better than the first.
  EXPECT_EQ(read_json(corpus_ / "run/checkpoints/extra-000000004/state.json")["progress"]["without_better"], 3);
}

TEST_F(TrainerTest, TheLastWeightsAreLookedAtBeforeTheBestIsChosen) {
  const TrainingResult result = run(corpus_.recipe("gpt2", {"stop.steps=7", "validation.steps=5"}), "run");
  EXPECT_EQ(result.best_step, 7);
  ASSERT_EQ(listener_.validations.size(), 2u);
  EXPECT_LT(listener_.validations[1].loss, listener_.validations[0].loss);
  EXPECT_DOUBLE_EQ(result.final.loss, listener_.validations[1].loss);
}

TEST_F(TrainerTest, TheAverageIsTheMeanOfTheLastCheckpoints) {
  run(corpus_.recipe("gpt2", {"stop.steps=9", "checkpoint.steps=2", "checkpoint.keep=1", "checkpoint.average=3"}),
      "run");
  const auto model = weights("run");
  const auto a = weights("run/checkpoints/step-000000004"), b = weights("run/checkpoints/step-000000006"),
             c = weights("run/checkpoints/step-000000008");
  EXPECT_FALSE(fs::exists(corpus_ / "run/checkpoints/step-000000002"));
  for (const auto& [name, numbers] : model)
    for (size_t i = 0; i < numbers.size(); ++i) {
      const double sum =
          static_cast<double>(a.at(name)[i]) + static_cast<double>(b.at(name)[i]) + static_cast<double>(c.at(name)[i]);
      ASSERT_EQ(numbers[i], static_cast<real>(sum / 3)) << name;
    }
}

TEST_F(TrainerTest, TheFolderIsAModelThatSaysWhereItCameFrom) {
  const Recipe recipe = corpus_.recipe("marian", {"decode.beam=3"});
  run(recipe, "run");
  EXPECT_EQ(config_of("run").vocab, load_tokenizers(corpus_ / "run").source->size());
  EXPECT_EQ(read_json(corpus_ / "run/generation_config.json")["num_beams"], 3);
  EXPECT_EQ(read_json(corpus_ / "run/generation_config.json")["bad_words_ids"][0][0], *config_of("run").pad_token);
  EXPECT_EQ(dump_recipe(load_recipe(corpus_ / "run/recipe.toml")), dump_recipe(recipe));
  EXPECT_EQ(read_json(corpus_ / "run/training.json")["seed"], 1);
  EXPECT_EQ(read_json(corpus_ / "run/training.json")["dataset"]["train"].size(), 2u);
  EXPECT_EQ(read_json(corpus_ / "run/training.json")["dataset"]["valid"].size(), 2u);
  EXPECT_EQ(read_json(corpus_ / "run/training.json")["finished"]["steps"], 10);
}

// ---- divergence

TEST_F(TrainerTest, ARunThatCannotBeSavedEndsInAClearError) {
  for (const char* checkpoints : {"1000", "1"}) {  // without a checkpoint, and with ones of ruined weights
    const Recipe recipe =
        corpus_.recipe("gpt2", {"schedule.learning_rate=1e30", std::string("checkpoint.steps=") + checkpoints});
    EXPECT_THAT(error_of(recipe, std::string("run") + checkpoints),
                AllOf(HasSubstr("diverged 6 times"), HasSubstr("lower schedule.learning_rate")));
    EXPECT_EQ(listener_.notes.size(), 5u);
    EXPECT_THAT(listener_.notes[0], AllOf(HasSubstr("not a number"), HasSubstr("half the learning rate")));
  }
}

TEST_F(TrainerTest, ADivergingRunIsTakenBackAndGoesOnMoreSlowly) {
  const Recipe recipe = corpus_.recipe("gpt2", {"schedule.learning_rate=10", "stop.steps=4", "checkpoint.steps=2"});
  const TrainingResult result = run(recipe, "run");
  EXPECT_EQ(result.steps, 4);
  ASSERT_FALSE(listener_.notes.empty());
  EXPECT_THAT(listener_.notes[0], HasSubstr("diverged at step"));
  const double slower = listener_.steps.back().learning_rate;
  EXPECT_DOUBLE_EQ(slower, 10 * std::pow(0.5, static_cast<double>(listener_.notes.size())));
  EXPECT_THAT(bytes("run/log.jsonl"), HasSubstr("\"event\":\"diverged\""));
  EXPECT_DOUBLE_EQ(read_json(corpus_ / "run/checkpoints/step-000000004/state.json")["progress"]["rate_factor"],
                   slower / 10);
}

// ---- every family learns

struct FamilyCase {
  const char* name;
  const char* family;
  std::vector<std::string> settings;
};

class EveryFamily : public TrainerTest, public testing::WithParamInterface<FamilyCase> {};

TEST_P(EveryFamily, Learns) {
  for (const char* file : {"source", "target", "valid"}) corpus_.write(file, ToyCorpus::alphabet_lines());
  std::vector<std::string> settings = {"stop.steps=100", "batch.tokens=128", "optimizer.label_smoothing=0"};
  settings.insert(settings.end(), GetParam().settings.begin(), GetParam().settings.end());
  const TrainingResult result = run(corpus_.recipe(GetParam().family, settings), "run");
  const double first = listener_.steps.front().loss;
  EXPECT_NEAR(first, std::log(static_cast<double>(config_of("run").vocab)), 1.2);
  EXPECT_LT(result.final.loss, 0.6 * first);
  EXPECT_LT(listener_.steps.back().loss, 0.8 * first);  // of the last hundred updates
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryFamily,
    testing::Values(
        FamilyCase{"marian", "marian", {}}, FamilyCase{"pegasus", "pegasus", {}}, FamilyCase{"gpt2", "gpt2", {}},
        FamilyCase{"gpt2_stream", "gpt2", {"data.unit=stream", "batch.window=16"}}, FamilyCase{"llama", "llama", {}},
        FamilyCase{"bert", "bert", {"mask_share=0.3", "stop.steps=200"}}, FamilyCase{"rnn", "rnn_seq2seq", {}},
        FamilyCase{"rnn_attention", "rnn_seq2seq", {"model.attention=additive", "model.bidirectional=true"}}),
    [](const auto& test) { return std::string(test.param.name); });

// ---- classification

class Classification : public TrainerTest {
 protected:
  // A text is "yes" if it has an a, "no" if a b, else "neither"; never both.
  Classification() {
    for (const auto& [file, seed, count] : {std::tuple{"source", 1, 400}, std::tuple{"valid", 2, 40}}) {
      std::vector<std::string> lines;
      for (const std::string& text : ToyCorpus::random_lines(count, static_cast<uint64_t>(seed), 3, 6)) {
        const bool a = text.find('a') != std::string::npos, b = text.find('b') != std::string::npos;
        if (!a || !b) lines.push_back(text + "\t" + (a ? "yes" : b ? "no" : "neither"));
      }
      corpus_.write(file, lines);
    }
  }
  std::vector<std::string> settings_ = {"data.labels=true",    "validation.metric=exact", "stop.steps=200",
                                        "validation.steps=20", "batch.tokens=256",        "optimizer.label_smoothing=0",
                                        "stop.patience=0"};
};

TEST_F(Classification, ReachesEveryLabel) {
  const TrainingResult result = run(corpus_.recipe("bert", settings_), "run");
  EXPECT_EQ(result.final.exact, 100);
  EXPECT_EQ(result.best, 100);
  EXPECT_THAT(config_of("run").labels, testing::ElementsAre("neither", "no", "yes"));
  EXPECT_TRUE(weights("run").contains("bert.pooler.dense.weight"));
  EXPECT_TRUE(weights("run").contains("classifier.bias"));
}

TEST_F(Classification, GoesOnFromAnEncoderThatGuessedTokens) {
  run(corpus_.recipe("bert", {"stop.steps=3"}), "guesser");  // of the same text, labels included
  std::vector<std::string> settings = settings_;
  settings.insert(settings.end(),
                  {"start_from=" + (corpus_ / "guesser").string(), "stop.steps=1", "optimizer.freeze=bert.encoder.*"});
  run(corpus_.recipe("bert", settings), "classifier");
  const std::string name = "bert.encoder.layer.0.intermediate.dense.weight";
  EXPECT_EQ(weights("classifier").at(name), weights("guesser").at(name));
}

}  // namespace
}  // namespace limpid
