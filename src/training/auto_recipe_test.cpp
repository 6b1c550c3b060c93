#include "training/auto_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "training/model_ladder.h"

namespace limpid {
namespace {

using testing::HasSubstr;
using Kind = OwnText::Kind;

class AutoRecipeTest : public testing::Test {
 protected:
  std::string write(const std::string& name, int64_t lines, const std::function<std::string(int64_t)>& line) {
    std::string text;
    for (int64_t i = 0; i < lines; ++i) text += line(i) + '\n';
    write_text(folder_.path() / name, text);
    return (folder_.path() / name).string();
  }

  // Pairs of texts with some hundred words, each of so many sentences.
  OwnText pairs(int64_t count, int64_t sentences = 1) {
    const auto word = [](int64_t i) { return fmt::format("w{}", i * 7919 % 577); };
    const auto one = [&](int64_t i) { return word(i) + ' ' + word(i / 3) + ' ' + word(i * 5) + " ends."; };
    const auto one_korean = [&](int64_t i) { return fmt::format("말{} 글{} 끝.", i * 31 % 211, i * 17 % 193); };
    const auto several = [sentences](const auto& of, int64_t i) {
      std::string text = of(i);
      for (int64_t k = 1; k < sentences; ++k) text += ' ' + of(i * 3 + k);
      return text;
    };
    const auto sentence = [&](int64_t i) { return several(one, i); };
    const auto korean = [&](int64_t i) { return several(one_korean, i); };
    return {.kind = Kind::pairs, .files = {write("a.en", count, sentence), write("a.ko", count, korean)}};
  }

  struct Prepared {
    ChosenRecipe data;
    Dataset dataset;
  };

  Prepared prepare(const OwnText& text) {
    ChosenRecipe data = choose_data(text, survey_text(corpus_files(text)));
    const std::filesystem::path run = folder_.path() / fmt::format("run-{}", ++runs_);
    std::filesystem::create_directories(run);
    Dataset dataset = prepare_dataset(data.recipe, run);
    return {std::move(data), std::move(dataset)};
  }

  // Chooses as limpid train does, on a machine that makes so many floating point operations per second.
  static ChosenRecipe choose(const OwnText& text, const Prepared& prepared, double flops) {
    return choose_model(prepared.data, text, prepared.dataset, [&](const Recipe& recipe, double) {
      const auto value = [&](std::initializer_list<const char*> names, double otherwise) {
        for (const char* name : names)
          if (recipe.model.contains(name)) return recipe.model[name].get<double>();
        return otherwise;
      };
      const double width = value({"d_model", "n_embd", "hidden_size"}, 64);
      const double layers = value({"encoder_layers", "n_layer", "num_hidden_layers"}, 2);
      const double weights = 28 * width * width * layers, tokens = static_cast<double>(recipe.batch.tokens);
      return StepTiming{6 * weights * tokens / flops, tokens, static_cast<int64_t>(weights)};
    });
  }
  ChosenRecipe choose(const OwnText& text, double flops) { return choose(text, prepare(text), flops); }

  TemporaryFolder folder_;
  int runs_ = 0;
};

TEST_F(AutoRecipeTest, TheSurveyCountsWhatIsThere) {
  OwnText text = pairs(100);
  write("a.en", 100, [](int64_t i) { return i % 2 ? "the same line" : fmt::format("line {}", i); });
  write("a.ko", 100, [](int64_t i) { return i % 2 ? "같은 줄" : fmt::format("줄 {}", i); });
  const TextSurvey survey = survey_text(corpus_files(text));
  EXPECT_EQ(survey.lines, 100);
  EXPECT_EQ(survey.duplicates, 49);
  EXPECT_EQ(survey.sides[0].script, "Latin");
  EXPECT_EQ(survey.sides[1].script, "Hangul");
  EXPECT_EQ(survey.sides[0].distinct_words, 3 + 50);  // the same line, 0, 2, 4 …
}

TEST_F(AutoRecipeTest, MoreTimeAndAFasterMachineGetALargerModel) {
  OwnText text = pairs(20000, 6);  // enough that it is not the text that keeps the model small
  const Prepared prepared = prepare(text);
  const auto width = [&](double minutes, double flops) {
    text.minutes = minutes;
    return choose(text, prepared, flops).recipe.model.at("d_model").get<int64_t>();
  };
  const int64_t little = width(1, 2e10), usual = width(30, 2e11), much = width(300, 2e12);
  EXPECT_LT(little, 128);
  EXPECT_GT(usual, little);
  EXPECT_GT(much, usual);
}

TEST_F(AutoRecipeTest, TheStepsFitTheTime) {
  OwnText text = pairs(60000);
  text.minutes = 2;
  const ChosenRecipe chosen = choose(text, 2e11);
  const Recipe& recipe = chosen.recipe;
  const double width = recipe.model["d_model"], layers = recipe.model["encoder_layers"];
  const double seconds = 6 * 28 * width * width * layers * static_cast<double>(recipe.batch.tokens) / 2e11;
  EXPECT_LE(seconds * static_cast<double>(recipe.stop.steps), 120);
  EXPECT_GT(seconds * static_cast<double>(recipe.stop.steps), 60);
  EXPECT_EQ(recipe.stop.minutes, 2);
  EXPECT_GE(recipe.stop.steps, recipe.schedule.warmup);
  bool says_why = true;
  for (const Decision& decision : chosen.decisions) says_why = says_why && !decision.why.empty();
  EXPECT_TRUE(says_why);
}

TEST_F(AutoRecipeTest, AFewPairsAreNotLearnedForEver) {
  OwnText text = pairs(200);
  text.minutes = 600;
  const Recipe recipe = choose(text, 2e11).recipe;
  EXPECT_LE(recipe.stop.steps, 5000);
  EXPECT_LE(recipe.model["d_model"].get<int64_t>(), 128);
  EXPECT_GE(recipe.model["dropout"].get<double>(), 0.2);
  EXPECT_GE(recipe.data.valid_share, 0.1);
}

TEST_F(AutoRecipeTest, OverridesAreKept) {
  OwnText text = pairs(2000);
  text.overrides = {"model.d_model=96",
                    "model.encoder_attention_heads=3",
                    "model.decoder_attention_heads=3",
                    "tokenizer.vocab=400",
                    "stop.steps=17",
                    "seed=5"};
  const Recipe recipe = choose(text, 2e11).recipe;
  EXPECT_EQ(recipe.model["d_model"], 96);
  EXPECT_EQ(recipe.tokenizer.vocab, 400);
  EXPECT_EQ(recipe.stop.steps, 17);
  EXPECT_EQ(recipe.seed, 5u);
}

// What the user says of the end is what warm-up and dropout are chosen for, not what the machine would have time for.
TEST_F(AutoRecipeTest, TheScheduleIsChosenAroundTheEnd) {
  OwnText text = pairs(2000);
  const Prepared prepared = prepare(text);
  text.minutes_given = false;
  text.overrides = {"stop.steps=50"};
  const Recipe few = choose(text, prepared, 2e11).recipe;
  EXPECT_EQ(few.stop.steps, 50);
  EXPECT_EQ(few.stop.minutes, 0);  // nobody asked for the ten that are usual
  EXPECT_LE(few.schedule.warmup, 5);
  EXPECT_LE(few.model["dropout"].get<double>(), 0.1);
  EXPECT_LE(few.validation.steps, 50);
  text.overrides = {"stop.epochs=1"};
  const Recipe once = choose(text, prepared, 2e11).recipe;
  EXPECT_EQ(once.stop.steps, 0);
  EXPECT_EQ(once.stop.epochs, 1);
  EXPECT_EQ(once.model["dropout"].get<double>(), 0);
  EXPECT_EQ(once.optimizer.label_smoothing, 0);
  text.overrides = {"stop.minutes=1"};
  const Recipe minute = choose(text, prepared, 2e10).recipe;
  text.overrides = {};
  text.minutes = 1;
  const Recipe same = choose(text, prepared, 2e10).recipe;
  EXPECT_EQ(minute.model["d_model"], same.model["d_model"]);
  EXPECT_EQ(minute.stop.steps, same.stop.steps);
  EXPECT_EQ(minute.stop.minutes, same.stop.minutes);
}

TEST_F(AutoRecipeTest, LongExamplesAreNotDropped) {
  const auto review = [](int64_t i) {
    std::string text;
    for (int64_t k = 0; k < 200; ++k) text += fmt::format("word{} ", (i * 7 + k * 13) % 400);
    return text;
  };
  OwnText own{.kind = Kind::labels};
  own.files = {write("long.tsv", 60, [&](int64_t i) { return (i % 2 ? "good\t" : "bad\t") + review(i); })};
  const Prepared prepared = prepare(own);
  EXPECT_EQ(prepared.dataset.train_report.dropped.size(), 0u);
  EXPECT_GT(prepared.data.recipe.data.max_length, 256);
  EXPECT_LE(prepared.data.recipe.data.max_length, 512);
  const auto line = [&](int64_t i) { return review(i) + "ends."; };
  own = {.kind = Kind::text, .files = {write("long.txt", 200, line)}};
  const Prepared lines = prepare(own);
  EXPECT_EQ(lines.data.recipe.data.unit, "lines");
  EXPECT_EQ(lines.dataset.train_report.dropped.size(), 0u);
  own.files = {write("letters.txt", 60, line)};  // so little that it is read letter by letter: no line would fit
  EXPECT_EQ(prepare(own).data.recipe.data.unit, "stream");
}

TEST_F(AutoRecipeTest, AnotherFamilyHasItsOwnKeys) {
  OwnText text = pairs(500);
  text.overrides = {"model.model_type=rnn_seq2seq"};
  EXPECT_EQ(choose(text, 2e11).recipe.model["attention"], "additive");
  text.overrides = {"model.model_type=gpt2"};
  EXPECT_THROW(choose(text, 2e11), Error);
}

TEST_F(AutoRecipeTest, LinesAndStreamsAreToldApart) {
  OwnText text{.kind = Kind::text};
  text.files = {write("sentences", 3000, [](int64_t i) { return fmt::format("Sentence number {} ends here.", i); })};
  EXPECT_EQ(choose_data(text, survey_text(corpus_files(text))).recipe.data.unit, "lines");
  text.files = {
      write("book", 3000, [](int64_t i) { return fmt::format("and so the story of {} goes on and on and", i); })};
  EXPECT_EQ(choose_data(text, survey_text(corpus_files(text))).recipe.data.unit, "stream");
  text.unit = "lines";
  EXPECT_EQ(choose_data(text, survey_text(corpus_files(text))).recipe.data.unit, "lines");
}

TEST_F(AutoRecipeTest, TheLabelsAreTheColumnWithFewerDifferentTexts) {
  const auto text = [](int64_t i) { return fmt::format("this text of some length has the number {}", i); };
  OwnText own{.kind = Kind::labels};
  own.files = {write("first.tsv", 50, [&](int64_t i) { return (i % 2 ? "good\t" : "bad\t") + text(i); })};
  EXPECT_THAT(choose(own, 2e11).recipe.data.columns, testing::ElementsAre(1, 0));
  own.files = {write("second.tsv", 50, [&](int64_t i) { return text(i) + (i % 2 ? "\tgood" : "\tbad"); })};
  EXPECT_THAT(choose(own, 2e11).recipe.data.columns, testing::ElementsAre(0, 1));
  own.files = {write("short.tsv", 50, [&](int64_t i) {  // texts that are shorter than their labels
    return fmt::format("no {}", i) + (i % 2 ? "\ta rather good review" : "\ta rather bad review");
  })};
  EXPECT_THAT(choose(own, 2e11).recipe.data.columns, testing::ElementsAre(0, 1));
}

TEST_F(AutoRecipeTest, NearlyNoTextIsAnError) {
  OwnText text = pairs(3);
  EXPECT_THROW(choose_data(text, survey_text(corpus_files(text))), Error);
}

TEST(ModelLadder, RungsGrow) {
  for (const char* family : {"marian", "gpt2", "llama", "bert"}) {
    double before = 0;
    for (const Rung& rung : model_ladder()) {
      EXPECT_EQ(rung.width % rung.heads(), 0);
      EXPECT_GT(rung_size(family, rung).total(), before) << family << rung.width << ' ' << rung.layers;
      before = rung_size(family, rung).total();
    }
  }
}

TEST_F(AutoRecipeTest, SeveralRanksGetAShardEach) {
  OwnText text = pairs(2000);
  EXPECT_EQ(choose(text, 1e10).recipe.batch.shards, 1);
  text.ranks = 4;
  const Prepared prepared = prepare(text);
  const ChosenRecipe chosen = choose(text, prepared, 1e10);
  EXPECT_EQ(chosen.recipe.batch.shards, 4);
  EXPECT_TRUE(std::any_of(chosen.decisions.begin(), chosen.decisions.end(),
                          [](const Decision& one) { return one.what == "shards" && one.choice == "4"; }));
  text.overrides = {"batch.shards=8"};
  EXPECT_EQ(choose(text, prepared, 1e10).recipe.batch.shards, 8);
}

}  // namespace
}  // namespace limpid
