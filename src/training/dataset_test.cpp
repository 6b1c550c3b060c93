#include "training/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/file.h"
#include "training/run_record.h"
#include "training/toy_corpus.h"

namespace limpid {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Texts = std::vector<std::string>;

class DatasetTest : public testing::Test {
 protected:
  Dataset prepared(const Recipe& recipe, const std::string& name = "run") {
    make(name);
    return prepare_dataset(recipe, corpus_ / name, [&](const std::string& what, double done) {
      EXPECT_TRUE(done >= 0 && done <= 1) << what << " " << done;
      ++told_;
    });
  }
  std::string error_of(const Recipe& recipe, const std::string& name = "run") {
    try {
      make_config(recipe, prepared(recipe, name));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  void make(const std::string& name) const { std::filesystem::create_directories(corpus_ / name); }

  // All examples of a store as text, both sides joined by a bar.
  static Texts texts(const Dataset& dataset, const TokenStore& store) {
    Texts result;
    for (int64_t i = 0; i < store.size(); ++i) {
      const TokenExample example = store.example(i);
      result.push_back(dataset.tokenizers.source->decode(example.first) + "|" +
                       dataset.tokenizers.target->decode(example.second));
    }
    return result;
  }

  ToyCorpus corpus_;
  int told_ = 0;
};

TEST_F(DatasetTest, HoldsEveryPairWithItsEndTokens) {
  corpus_.write("source", {"a b", "c"});
  corpus_.write("target", {"b a", "a"});
  const Dataset dataset = prepared(corpus_.recipe("marian"));
  EXPECT_THAT(texts(dataset, *dataset.train), ElementsAre("a b|b a", "c|a"));
  const SpecialIds special = dataset.tokenizers.source->special();
  const TokenExample first = dataset.train->example(0);
  EXPECT_EQ(first.first.size(), 3u);
  EXPECT_EQ(first.first.back(), special.end);
  EXPECT_EQ(first.second.back(), special.end);
  EXPECT_EQ(dataset.train_report.lines, 2);
  EXPECT_EQ(dataset.train_report.kept, 2);
  EXPECT_EQ(dataset.train_report.tokens[0], 5);
  EXPECT_EQ(dataset.train_report.longest, 3);
  EXPECT_EQ(dataset.valid_report.kept, 8);
  EXPECT_GT(dataset.valid_report.unknown, 0);  // letters that these two lines do not have
  EXPECT_EQ(dataset.valid_texts.size(), 8u);
  EXPECT_GT(told_, 0);
}

TEST_F(DatasetTest, DropsWhatCannotBeUsedAndSaysWhy) {
  corpus_.write("source", {"a", "", "a b c d e f g", "b", "c", "a b c d"});
  corpus_.write("target", {"a", "b", "a b c d e f g", " \t", "c", "d"});
  const Recipe recipe = corpus_.recipe("marian", {"data.max_length=7", "data.max_ratio=2"});
  const CorpusReport report = prepared(recipe).train_report;
  EXPECT_EQ(report.lines, 6);
  EXPECT_EQ(report.kept, 2);
  EXPECT_THAT(report.dropped,
              testing::UnorderedElementsAre(testing::Pair("empty", 2), testing::Pair("longer than data.max_length", 1),
                                            testing::Pair("sides differ more than data.max_ratio", 1)));
  EXPECT_EQ(report.first_dropped.at("empty"), 2);
  EXPECT_EQ(report.first_dropped.at("longer than data.max_length"), 3);
  EXPECT_EQ(report.first_dropped.at("sides differ more than data.max_ratio"), 6);
}

TEST_F(DatasetTest, CountsRepeatedLinesAndKeepsThem) {
  corpus_.write("source", {"a b", "c", "a b", "a b"});
  corpus_.write("target", {"a", "c", "a", "b"});
  const CorpusReport report = prepared(corpus_.recipe("marian")).train_report;
  EXPECT_EQ(report.duplicates, 1);
  EXPECT_EQ(report.kept, 4);
}

TEST_F(DatasetTest, CountsValidationExamplesThatTrainingHasToo) {
  corpus_.write("source", {"a b", "c d", "e", "c d", "b"});
  corpus_.write("target", {"a b", "c d", "e", "c d", "b"});
  corpus_.write("valid", {"c d", "e f", "b"});
  const Dataset dataset = prepared(corpus_.recipe("marian"));
  EXPECT_EQ(dataset.overlap, 2);
  EXPECT_EQ(dataset.overlap_line, 2);
  EXPECT_EQ(prepared(corpus_.recipe("marian")).overlap_line, 2);  // also when it is found again
}

TEST_F(DatasetTest, TheHeldOutPartAndTheRestAreTheWhole) {
  const Texts lines = ToyCorpus::random_lines(300, 5);
  corpus_.write("source", lines);
  corpus_.write("target", lines);
  const Recipe recipe = corpus_.recipe("marian", {"data.valid=[]", "data.valid_share=0.1"});
  const Dataset dataset = prepared(recipe);
  Texts train = texts(dataset, *dataset.train), valid = texts(dataset, *dataset.valid);
  EXPECT_GT(valid.size(), 10u);
  EXPECT_LT(valid.size(), 60u);
  EXPECT_EQ(dataset.overlap, 0);
  std::set<std::string> all(train.begin(), train.end());
  for (const std::string& text : valid) EXPECT_TRUE(all.insert(text).second) << text;
  EXPECT_EQ(all.size(), 300u);
  EXPECT_EQ(dataset.valid_texts[0].first + "|" + dataset.valid_texts[0].second, valid[0]);

  const Dataset less =
      prepared(corpus_.recipe("marian", {"data.valid=[]", "data.valid_share=0.1", "data.valid_most=5"}), "less");
  EXPECT_LT(less.valid->size(), 15);
}

TEST_F(DatasetTest, ARepeatedLineIsHeldOutEverywhere) {
  Texts lines = ToyCorpus::random_lines(100, 5);
  lines.insert(lines.end(), lines.begin(), lines.begin() + 100);
  corpus_.write("source", lines);
  corpus_.write("target", lines);
  EXPECT_EQ(prepared(corpus_.recipe("marian", {"data.valid=[]", "data.valid_share=0.2"})).overlap, 0);
}

TEST_F(DatasetTest, IsFoundAgainWithTheSameNumbers) {
  const Recipe recipe = corpus_.recipe("marian");
  const Dataset made = prepared(recipe);
  told_ = 0;
  const Dataset found = prepared(recipe);
  EXPECT_EQ(told_, 0);  // nothing was done again
  EXPECT_EQ(found.record.json(), made.record.json());
  EXPECT_FALSE(found.record.tokenizer.empty());
  EXPECT_EQ(texts(found, *found.train), texts(made, *made.train));
  EXPECT_EQ(found.valid_texts, made.valid_texts);
  EXPECT_EQ(found.train_report.lines, made.train_report.lines);
  EXPECT_EQ(found.train_report.lengths, made.train_report.lengths);
  EXPECT_EQ(found.train_report.tokens[1], made.train_report.tokens[1]);
}

TEST_F(DatasetTest, AHalfMadeOneIsMadeAgain) {
  prepared(corpus_.recipe("marian"));
  std::filesystem::remove(corpus_ / "run/data/dataset.json");  // written last
  std::filesystem::remove(corpus_ / "run/data/valid.tokens");
  told_ = 0;
  EXPECT_EQ(prepared(corpus_.recipe("marian")).valid->size(), 8);
  EXPECT_GT(told_, 0);
}

TEST_F(DatasetTest, ARecordThatLacksSomethingIsToldInOurWords) {
  const Recipe recipe = corpus_.recipe("marian");
  prepared(recipe);
  const auto file = corpus_ / "run/data/dataset.json";
  std::string text = read_text(file);
  text.replace(text.find("\"overlap\""), 9, "\"other\"");
  write_text(file, text);
  EXPECT_THAT(error_of(recipe),
              AllOf(HasSubstr("dataset.json: key 'overlap' not found: delete"), Not(HasSubstr("json.exception"))));
}

TEST_F(DatasetTest, OtherFilesOrSettingsAreRefusedOnceARunWasTrained) {
  const Recipe recipe = corpus_.recipe("marian");
  EXPECT_EQ(prepared(corpus_.recipe("marian", {"data.max_length=3"})).train_report.longest, 3);
  const Dataset dataset = prepared(recipe);  // nobody has used the other one
  EXPECT_GT(dataset.train_report.longest, 3);
  write_run_record(corpus_ / "run", {.dataset = dataset.record});
  EXPECT_EQ(error_of(corpus_.recipe("marian", {"stop.steps=99", "batch.tokens=12", "data.test=x"})), "no error");
  EXPECT_THAT(error_of(corpus_.recipe("marian", {"data.max_length=9"})),
              AllOf(HasSubstr("other files or settings"), HasSubstr("data.max_length was 256 and is 9")));
  EXPECT_THAT(error_of(corpus_.recipe("marian", {"tokenizer.vocab=9"})),
              HasSubstr("tokenizer.vocab was 8000 and is 9"));
  corpus_.write("valid", {"a b c d e"});
  EXPECT_THAT(error_of(recipe), AllOf(HasSubstr("valid has other contents"), HasSubstr("choose another folder")));
}

TEST_F(DatasetTest, TheFilesMayMove) {
  prepared(corpus_.recipe("marian"));
  std::filesystem::create_directory(corpus_ / "elsewhere");
  for (const char* name : {"source", "target", "valid"})
    std::filesystem::rename(corpus_ / name, corpus_ / "elsewhere" / name);
  EXPECT_EQ(error_of(corpus_.recipe("marian", {"data.folder=" + (corpus_ / "elsewhere").string()})), "no error");
}

TEST(Task, ARecipeWithoutAModelTypeIsAnError) {
  EXPECT_THROW(task_of(Recipe{}), Error);
  Recipe recipe;
  recipe.model = {{"model_type", 3}};
  EXPECT_THROW(task_of(recipe), Error);
  recipe.model = {{"model_type", "gpt2"}};
  EXPECT_EQ(task_of(recipe), Task::language_model);
}

TEST_F(DatasetTest, NothingToLearnIsAnError) {
  corpus_.write("source", {});
  corpus_.write("target", {});
  EXPECT_THAT(error_of(corpus_.recipe("marian")), HasSubstr("source is empty"));
  corpus_.write("source", {"a b c d"});
  corpus_.write("target", {"a b c d"});
  EXPECT_THAT(error_of(corpus_.recipe("marian", {"data.max_length=4"})), HasSubstr("all dropped"));
  EXPECT_THAT(error_of(corpus_.recipe("marian", {"data.valid=[]"})), HasSubstr("data.valid"));
  EXPECT_THAT(error_of(corpus_.recipe("marian", {"data.train=[]"})), HasSubstr("data.train"));
  EXPECT_THAT(error_of(corpus_.recipe("marian", {"data.train=nowhere"})), HasSubstr("nowhere"));
}

TEST_F(DatasetTest, TextLongerThanTheModelReachesIsAnErrorBeforeTraining) {
  EXPECT_THAT(error_of(corpus_.recipe("gpt2", {"model.n_positions=4"}), "lm"),
              AllOf(HasSubstr("only 4 positions"), HasSubstr("data.max_length")));
  EXPECT_EQ(error_of(corpus_.recipe("gpt2", {"model.n_positions=6"}), "lm"), "no error");  // <s> and five letters
  EXPECT_EQ(error_of(corpus_.recipe("llama", {"model.max_position_embeddings=4"}), "llama"), "no error");
  EXPECT_THAT(error_of(corpus_.recipe("gpt2", {"data.unit=stream", "batch.window=40"}), "stream"),
              HasSubstr("batch.window is 40"));
}

TEST_F(DatasetTest, TextTooShortToValidateOnIsAnErrorBeforeTraining) {
  corpus_.write("source", {"abcdefghijklmnopqrstuvwxyz"});
  const auto recipe = [&](int window) {
    return corpus_.recipe("llama", {"data.unit=stream", fmt::format("batch.window={}", window),
                                    "tokenizer.kind=characters", "data.valid=[]", "data.valid_share=0.2"});
  };
  EXPECT_EQ(error_of(recipe(5)), "no error");  // six letters: five that are predicted
  EXPECT_THAT(error_of(recipe(6)), AllOf(HasSubstr("6 tokens"), HasSubstr("a window of 6"), HasSubstr("valid_share")));
}

TEST_F(DatasetTest, AKeyThatTheModelDoesNotKnowIsAnError) {
  EXPECT_THAT(error_of(corpus_.recipe("marian", {"model.encoder_layer=3"})),
              AllOf(HasSubstr("encoder_layer"), HasSubstr("encoder_layers?")));
}

// ---- texts

TEST_F(DatasetTest, LinesOfALanguageModelHaveABeginAndAnEnd) {
  corpus_.write("source", {"a b", "", "c"});
  const Dataset dataset = prepared(corpus_.recipe("gpt2"));
  const SpecialIds special = dataset.tokenizers.source->special();
  ASSERT_EQ(dataset.train->size(), 2);
  const TokenExample first = dataset.train->example(0);
  EXPECT_EQ(first.first.front(), special.begin);
  EXPECT_EQ(first.first.back(), special.end);
  EXPECT_EQ(first.first.size(), 4u);
  EXPECT_TRUE(first.second.empty());
}

TEST_F(DatasetTest, AStreamIsOneTextWhoseEndIsHeldOut) {
  corpus_.write("source", {"abc", "", "de"});
  const Recipe recipe = corpus_.recipe("gpt2", {"data.unit=stream", "batch.window=2", "tokenizer.kind=characters",
                                                "data.valid=[]", "data.valid_share=0.4"});
  const Dataset dataset = prepared(recipe);
  const auto text = [&](const TokenStore& store) {
    return dataset.tokenizers.source->decode(store.ids(0, store.tokens()));
  };
  EXPECT_EQ(text(*dataset.train), "abc\n");
  EXPECT_EQ(text(*dataset.valid), "\nde\n");
  EXPECT_EQ(dataset.train_report.tokens[0], 4);
  EXPECT_EQ(dataset.valid_report.tokens[0], 4);
  EXPECT_FALSE(std::filesystem::exists(corpus_ / "run/data/all.tokens"));
}

TEST_F(DatasetTest, AStreamOfWordsPartsLinesByTheEndToken) {
  corpus_.write("source", {"a b", "c"});
  const Dataset dataset = prepared(corpus_.recipe("llama", {"data.unit=stream", "batch.window=2"}));
  const int32_t end = dataset.tokenizers.source->special().end;
  const auto ids = dataset.train->ids(0, dataset.train->tokens());
  ASSERT_EQ(ids.size(), 5u);
  EXPECT_EQ(ids[2], end);
  EXPECT_EQ(ids[4], end);
}

// As text8 is: longer than any line may be.
TEST_F(DatasetTest, AStreamMayBeOneLine) {
  std::string line;
  while (line.size() < kLongestLine + 1000000) line += "abcd efg hij ";
  corpus_.write("source", {line});
  const Recipe recipe = corpus_.recipe("gpt2", {"data.unit=stream", "batch.window=2", "tokenizer.kind=characters",
                                                "data.valid=[]", "data.valid_share=0.01"});
  const Dataset dataset = prepared(recipe);
  EXPECT_EQ(dataset.train->tokens() + dataset.valid->tokens(), static_cast<int64_t>(line.size()) + 1);
  const auto ids = dataset.train->ids(static_cast<int64_t>(kLongestLine) - 30, 60);  // where the line was cut
  EXPECT_EQ(dataset.tokenizers.source->decode(ids), line.substr(kLongestLine - 30, 60));
  EXPECT_THROW(prepared(corpus_.recipe("gpt2", {"data.unit=lines", "tokenizer.kind=characters"})), Error);
}

// ---- the model, before there is any text

TEST(CheckModel, FindsWhatTheConfigWould) {
  const ToyCorpus corpus;
  const auto error_of = [&](const std::string& family, const std::string& override) {
    try {
      check_model(corpus.recipe(family, {override}));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error_of("marian", "seed=2"), "no error");
  EXPECT_EQ(error_of("bert", "data.labels=true"), "no error");
  EXPECT_EQ(error_of("rnn_seq2seq", "seed=2"), "no error");
  EXPECT_THAT(error_of("marian", "model.d_modle=8"), HasSubstr("did you mean d_model?"));
  EXPECT_THAT(error_of("marian", "model.d_model=-8"), HasSubstr("d_model"));
  EXPECT_THAT(error_of("bert", "model.num_labels=3"), HasSubstr("data.labels"));
}

// ---- labels

TEST_F(DatasetTest, LabelsAreNumberedInTheirOrder) {
  corpus_.write("source", {"a b\tgood", "c\tbad", "d\tugly", "e\tgood", "f\t"});
  corpus_.write("valid", {"a\tbad", "b\tunheard of"});
  const Recipe recipe = corpus_.recipe("bert", {"data.labels=true"});
  const Dataset dataset = prepared(recipe);
  EXPECT_THAT(dataset.labels, ElementsAre("bad", "good", "ugly"));
  const TokenExample first = dataset.train->example(0);
  EXPECT_THAT(first.second, ElementsAre(1));
  EXPECT_EQ(first.first.front(), dataset.tokenizers.source->special().begin);
  EXPECT_EQ(dataset.train_report.dropped.at("empty"), 1);
  EXPECT_EQ(dataset.valid_report.dropped.at("label that training does not have"), 1);

  const Config config = make_config(recipe, dataset);
  EXPECT_THAT(config.labels, ElementsAre("bad", "good", "ugly"));
  EXPECT_EQ(config.json["id2label"]["1"], "good");
  EXPECT_EQ(config.json["label2id"]["ugly"], 2);
  EXPECT_EQ(config.json["architectures"][0], "BertForSequenceClassification");
}

TEST_F(DatasetTest, ATextThatIsTooLongForItsLabelIsCut) {
  corpus_.write("source", {"a b c d e f g h\tgood", "c\tbad"});
  corpus_.write("valid", {"a\tbad"});
  const Dataset dataset = prepared(corpus_.recipe("bert", {"data.labels=true", "data.max_length=5"}));
  EXPECT_EQ(dataset.train_report.kept, 2);
  EXPECT_EQ(dataset.train_report.cut, 1);
  EXPECT_EQ(dataset.valid_report.cut, 0);
  const SpecialIds special = dataset.tokenizers.source->special();
  std::vector<int32_t> read = dataset.tokenizers.source->encode("a b c");
  read.insert(read.begin(), special.begin);
  read.push_back(special.end);
  EXPECT_EQ(dataset.train->example(0).first, read);
}

TEST_F(DatasetTest, OneLabelIsNothingToLearn) {
  corpus_.write("source", {"a\tgood", "b\tgood"});
  EXPECT_THAT(error_of(corpus_.recipe("bert", {"data.labels=true"})), HasSubstr("same label"));
}

TEST_F(DatasetTest, LabelsOfTheModelNeedLabelsInTheText) {
  EXPECT_THAT(error_of(corpus_.recipe("bert", {"model.num_labels=3"})), HasSubstr("data.labels"));
}

TEST(TaskOf, FollowsFromTheFamily) {
  const ToyCorpus corpus;
  EXPECT_EQ(task_of(corpus.recipe("pegasus")), Task::translation);
  EXPECT_EQ(task_of(corpus.recipe("rnn_seq2seq")), Task::translation);
  EXPECT_EQ(task_of(corpus.recipe("llama")), Task::language_model);
  EXPECT_EQ(task_of(corpus.recipe("bert")), Task::masked);
  EXPECT_EQ(task_of(corpus.recipe("bert", {"data.labels=true"})), Task::classification);
}

}  // namespace
}  // namespace limpid
