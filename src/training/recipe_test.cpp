#include "training/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "base/error.h"

namespace limpid {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// The least that a recipe takes.
const std::string kLeast = "[model]\nmodel_type = \"marian\"\n[stop]\nsteps = 5\n";

Recipe parsed(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  return parse_recipe(toml, "my.toml", overrides);
}

std::string error_of(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  try {
    parsed(toml, overrides);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string error_with(const std::string& override_text) { return error_of(kLeast, {override_text}); }

TEST(Recipe, HasADefaultForEveryKeyButTheModel) {
  const Recipe recipe = parsed(kLeast);
  EXPECT_EQ(recipe.model.at("model_type"), "marian");
  EXPECT_EQ(recipe.stop.steps, 5);
  EXPECT_EQ(recipe.batch.tokens, 4096);
  EXPECT_EQ(recipe.schedule.kind, "inverse-sqrt");
  EXPECT_EQ(recipe.optimizer.label_smoothing, 0.1);
}

// A value for each key of the dump that differs from its default, where one can be made up.
std::string with_other_values(const std::string& dump) {
  std::string text = std::regex_replace(dump, std::regex(R"(= (\d+)( |\n))"), "= 1$1$2");
  text = std::regex_replace(text, std::regex(R"(= \d+\.0( |\n))"), "= 0.25$1");
  text = std::regex_replace(text, std::regex(R"(= \[0, 1\])"), "= [2, 3]");
  text = std::regex_replace(text, std::regex(R"(= 0\.(\d+))"), "= 0.0$1");
  text = std::regex_replace(text, std::regex(R"(= \[\])"), R"(= ["one \"two\" \\ three", "넷"])");
  text = std::regex_replace(text, std::regex(R"(= \"\")"), R"(= "some\ttext")");
  return text;
}

TEST(Recipe, EveryKeyComesBackFromItsDump) {
  const std::string defaults = dump_recipe(parsed(kLeast));
  EXPECT_EQ(dump_recipe(parsed(defaults)), defaults);
  const std::string others = dump_recipe(parsed(with_other_values(defaults)));
  EXPECT_EQ(dump_recipe(parsed(others)), others);
  // Each line of the second dump differs, so that no key is read from or written to another's place.
  std::istringstream before(defaults), after(others);
  for (std::string a, b; std::getline(before, a) && std::getline(after, b);) {
    const bool choice = std::regex_search(a, std::regex("= (true|false|\"[a-z0-9-]+\"|1e-)"));
    if (a.find(" = ") != std::string::npos && !choice) {
      EXPECT_NE(a, b);
    }
  }
  EXPECT_GT(std::count(others.begin(), others.end(), '\n'), 50);
}

TEST(Recipe, FlagsAndChoicesComeBackFromTheDump) {
  const std::vector<std::string> changes = {
      "tokenizer.kind=unigram",        "tokenizer.joint=false",   "tokenizer.lowercase=true",
      "tokenizer.byte_fallback=false", "optimizer.kind=adamw",    "optimizer.eps=1e-7",
      "schedule.kind=cosine",          "validation.metric=chrf",  "validation.tokenize=intl",
      "validation.lowercase=true",     "schedule.learning_rate=0"};
  for (const std::string& change : changes) {
    const bool zero = change == "schedule.learning_rate=0";  // the only one that another key could refuse
    const std::string key = change.substr(change.find('.') + 1, change.find('=') - change.find('.') - 1);
    const std::string dump = dump_recipe(parsed(kLeast, {change}));
    EXPECT_NE(dump, dump_recipe(parsed(kLeast))) << change;
    EXPECT_EQ(dump_recipe(parsed(dump)), dump) << change;
    EXPECT_THAT(dump, HasSubstr("\n" + key + " = ")) << zero;
  }
}

TEST(Recipe, TheModelComesBackFromTheDumpAsItWas) {
  const std::string toml = R"([model]
model_type = "gpt2"
n_embd = 128
rate = 1e-9
limpid = { bias = false, dropout = { embedding = 0.3 } }
"odd key" = [1, 2]
[stop]
minutes = 1.5
)";
  const Recipe once = parsed(toml), again = parsed(dump_recipe(once));
  EXPECT_EQ(again.model, once.model);
  EXPECT_EQ(again.model["limpid"]["dropout"]["embedding"], 0.3);
  EXPECT_EQ(again.model["rate"], 1e-9);
  EXPECT_EQ(again.stop.minutes, 1.5);
}

TEST(Recipe, AllOfOursAreGood) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LIMPID_SOURCE_DIR "/recipes")) {
    if (entry.path().extension() != ".toml") continue;  // the manifest of limpid get lies there too
    const Recipe recipe = load_recipe(entry.path());
    EXPECT_FALSE(recipe.description.empty()) << entry.path();
    EXPECT_EQ(dump_recipe(parsed(dump_recipe(recipe))), dump_recipe(recipe)) << entry.path();
    ++count;
  }
  EXPECT_GT(count, 5);
}

// ---- overrides

TEST(Recipe, OverridesComeAfterTheFile) {
  const Recipe recipe = parsed(kLeast + "minutes = 3\n",
                               {"stop.steps=7", "model.d_model=64", "model.limpid.bias=false", "data.folder=some/where",
                                "data.train=[\"a\", \"b\"]", "data.valid=one", "seed=3", "seed=4", "note=a = b"});
  EXPECT_EQ(recipe.stop.steps, 7);
  EXPECT_EQ(recipe.stop.minutes, 3);
  EXPECT_EQ(recipe.model["d_model"], 64);
  EXPECT_EQ(recipe.model["limpid"]["bias"], false);
  EXPECT_EQ(recipe.data.folder, "some/where");
  EXPECT_THAT(recipe.data.train, ElementsAre("a", "b"));
  EXPECT_THAT(recipe.data.valid, ElementsAre("one"));
  EXPECT_EQ(recipe.seed, 4u);
  EXPECT_EQ(recipe.note, "a = b");
}

TEST(Recipe, ATextMayLookLikeANumber) {
  const Recipe recipe = parsed(kLeast, {"data.folder=2016", "note=", "data.test=\"1\""});
  EXPECT_EQ(recipe.data.folder, "2016");
  EXPECT_EQ(recipe.note, "");
  EXPECT_THAT(recipe.data.test, ElementsAre("1"));
}

TEST(Recipe, WhatIsNoOverrideIsAnError) {
  EXPECT_THAT(error_with("stop.steps"), HasSubstr("key=value"));
  EXPECT_THAT(error_with("=5"), HasSubstr("key=value"));
  EXPECT_THAT(error_with("stop.steps.more=5"), AllOf(HasSubstr("stop.steps.more"), HasSubstr("key=value")));
}

// ---- what is wrong is named

TEST(Recipe, AnUnknownKeyNamesTheNearest) {
  EXPECT_THAT(error_with("stop.step=5"), AllOf(HasSubstr("stop.step is not a known key"), HasSubstr("stop.steps?")));
  EXPECT_THAT(error_with("schedule.learningrate=1"), HasSubstr("schedule.learning_rate?"));
  EXPECT_THAT(error_with("tokeniser.kind=bpe"), HasSubstr("tokenizer.kind?"));
  EXPECT_THAT(error_with("sead=5"), HasSubstr("seed?"));
  EXPECT_THAT(error_of(kLeast + "[batch]\ntoken = 5\n"), HasSubstr("batch.tokens?"));
  EXPECT_THAT(error_with("stop=5"), HasSubstr("stop is not a known key"));
}

TEST(Recipe, AWrongKindIsToldWithTheRightOne) {
  EXPECT_THAT(error_with("stop.steps=many"), AllOf(HasSubstr("stop.steps is \"many\""), HasSubstr("whole number")));
  EXPECT_THAT(error_with("stop.steps=1.5"), HasSubstr("whole number"));
  EXPECT_THAT(error_with("stop.steps=-1"), HasSubstr("from 0"));
  EXPECT_THAT(error_with("stop.minutes=-0.5"), HasSubstr("a number from 0"));
  EXPECT_THAT(error_with("stop.minutes=nan"), HasSubstr("a number from 0"));
  EXPECT_THAT(error_with("tokenizer.joint=1"), HasSubstr("true or false"));
  EXPECT_THAT(error_with("data.columns=[\"a\"]"), HasSubstr("list of whole numbers"));
  EXPECT_THAT(error_with("data.train=[1, 2]"), HasSubstr("list of texts"));
  EXPECT_THAT(error_with("data.folder=[\"a\"]"), HasSubstr("a text"));
  EXPECT_THAT(error_with("note=2020-01-01"), HasSubstr("date"));
}

TEST(Recipe, AWrongChoiceIsToldWithTheOthers) {
  EXPECT_THAT(error_with("tokenizer.kind=byte"), AllOf(HasSubstr("bpe, unigram"), HasSubstr("\"byte\"")));
  EXPECT_THAT(error_with("schedule.kind=cosin"), HasSubstr("did you mean cosine?"));
  EXPECT_THAT(error_with("validation.metric=blue"), HasSubstr("did you mean bleu?"));
  EXPECT_THAT(error_with("model.model_type=mariam"), HasSubstr("did you mean marian?"));
  EXPECT_THAT(error_with("model.model_type=5"), HasSubstr("model.model_type"));
  EXPECT_THAT(error_with("data.unit=words"), HasSubstr("lines, stream"));
}

TEST(Recipe, ContradictionsAreErrors) {
  EXPECT_THAT(error_of("[model]\nmodel_type = \"marian\"\n"), HasSubstr("nothing would end this run"));
  EXPECT_THAT(error_of("[stop]\nsteps = 1\n"), HasSubstr("[model]"));
  EXPECT_THAT(error_of("model = 5\n[stop]\nsteps = 1\n"), HasSubstr("[model]"));
  EXPECT_THAT(error_of("[model]\nd_model = 5\n[stop]\nsteps = 1\n"), HasSubstr("model_type is missing"));
  EXPECT_THAT(error_with("batch.tokens=0"), HasSubstr("bound a batch"));
  EXPECT_THAT(error_with("batch.accumulate=0"), HasSubstr("accumulate"));
  EXPECT_THAT(error_with("optimizer.label_smoothing=1"), HasSubstr("less than 1"));
  EXPECT_THAT(error_with("tokenizer.sampling=0.1"), HasSubstr("unigram"));
  EXPECT_EQ(error_of(kLeast, {"tokenizer.sampling=0.1", "tokenizer.kind=unigram"}), "no error");
  EXPECT_THAT(error_with("checkpoint.ema=1.0"), HasSubstr("less than 1"));
  EXPECT_THAT(error_with("checkpoint.keep=0"), HasSubstr("checkpoint.keep"));
  EXPECT_THAT(error_with("data.columns=[0]"), HasSubstr("two numbers"));
  EXPECT_THAT(error_of(kLeast, {"schedule.kind=constant", "schedule.learning_rate=0"}),
              HasSubstr("learning_rate is 0"));
  EXPECT_THAT(error_of(kLeast, {"schedule.kind=cosine", "stop.steps=0", "stop.minutes=5"}), HasSubstr("stop.steps"));
  EXPECT_EQ(error_of(kLeast, {"schedule.kind=cosine", "stop.steps=0", "stop.epochs=5"}), "no error");
}

TEST(Recipe, WhatAFamilyCannotDoIsAnErrorBeforeAnythingStarts) {
  const auto error = [](const std::string& family, std::vector<std::string> settings) {
    settings.push_back("model.model_type=" + family);
    return error_of(kLeast, settings);
  };
  EXPECT_THAT(error("gpt2", {"data.unit=stream"}), HasSubstr("batch.window"));
  EXPECT_EQ(error("gpt2", {"data.unit=stream", "batch.window=8"}), "no error");
  EXPECT_THAT(error("marian", {"data.unit=stream", "batch.window=8"}), HasSubstr("learns from lines"));
  EXPECT_THAT(error("gpt2", {"validation.metric=bleu"}), HasSubstr("only \"loss\""));
  EXPECT_THAT(error("bert", {"validation.metric=exact"}), HasSubstr("only \"loss\""));
  EXPECT_EQ(error("bert", {"validation.metric=exact", "data.labels=true"}), "no error");
  EXPECT_THAT(error("llama", {"data.labels=true"}), HasSubstr("only bert"));
  EXPECT_EQ(error("rnn_seq2seq", {"validation.metric=chrf"}), "no error");
}

TEST(Recipe, BrokenTomlIsToldWithItsLine) {
  EXPECT_THAT(error_of("[model]\nmodel_type = \n"), AllOf(HasSubstr("my.toml"), HasSubstr("line 2")));
  EXPECT_THAT(error_of(kLeast + "[stop]\nepochs = 2\n"), HasSubstr("my.toml"));  // a section twice
}

}  // namespace
}  // namespace limpid
