// Training with several ranks, here threads of one process: the same bits as with one, whatever their number.

#include <gmock/gmock.h>

#include "cluster/thread_ranks.h"
#include "models/small_models.h"
#include "training/trainer_fixture.h"
#include "training/update.h"

namespace limpid {
namespace {

using testing::HasSubstr;

class RanksTest : public TrainerTest {
 protected:
  TrainingResult run_on(int ranks, const Recipe& recipe, const std::string& name, int64_t stop_after = INT64_MAX) {
    listener_ = {};
    std::vector<Listener> others(ranks);
    TrainingResult result;
    on_ranks(ranks, [&](Courier& courier) {
      Listener& listener = courier.first() ? listener_ : others[courier.rank()];
      const bool first = courier.first();
      if (first) RunFolder(corpus_ / name);  // there before the others look
      courier.gather("");
      RunFolder folder = first ? RunFolder(corpus_ / name) : RunFolder::of_other_process(corpus_ / name);
      const TrainingOptions options{.ranks = &courier, .interrupted = [&] {
                                      return !listener.steps.empty() && listener.steps.back().step >= stop_after;
                                    }};
      const TrainingResult mine = train(recipe, folder, listener, options);
      if (first) result = mine;
    });
    return result;
  }

  // Everything that a run leaves but for the clock.
  void expect_same(const std::string& a, const std::string& b, const std::string& checkpoint) {
    EXPECT_TRUE(bytes(a + "/model.safetensors") == bytes(b + "/model.safetensors")) << a << " and " << b;
    for (const char* file : {"model.safetensors", "optimizer.safetensors", "average.safetensors"})
      EXPECT_TRUE(bytes(a + "/checkpoints/" + checkpoint + "/" + file) ==
                  bytes(b + "/checkpoints/" + checkpoint + "/" + file))
          << file << " of " << a << " and " << b;
  }
};

struct Case {
  std::string name, family;
  std::vector<std::string> settings;
};

// Wide enough that every rank has a part of the weights to update.
const std::vector<Case> kCases = {
    {"marian",
     "marian",
     {"model.d_model=96", "model.encoder_ffn_dim=192", "model.dropout=0.2", "optimizer.freeze=model.encoder.*"}},
    {"batch norm", "marian", {"model.d_model=96", "model.encoder_ffn_dim=192", "model.limpid={norm=\"batch\"}"}},
    {"pegasus", "pegasus", {"model.d_model=96", "model.decoder_ffn_dim=192", "model.dropout=0.1"}},
    {"gpt2", "gpt2", {"model.n_embd=128", "model.n_layer=2", "model.resid_pdrop=0.1"}},
    {"llama", "llama", {"model.hidden_size=128", "model.intermediate_size=256"}},
    {"bert", "bert", {"model.hidden_size=128", "model.hidden_dropout_prob=0.1"}},
    {"gru", "rnn_seq2seq", {"model.embed_dim=128", "model.hidden_size=128", "model.dropout=0.1"}},
    {"lstm",
     "rnn_seq2seq",
     {"model.cell=lstm", "model.attention=additive", "model.bidirectional=true", "model.layers=2", "model.embed_dim=64",
      "model.hidden_size=64"}}};

TEST_F(RanksTest, SameBitsWithAnyNumberOfRanksInAllFamilies) {
  for (const auto& [of, family, settings] : kCases) {
    std::vector<std::string> all = {"batch.shards=4",          "batch.accumulate=2", "optimizer.clip_norm=0.5",
                                    "checkpoint.ema=0.9",      "stop.steps=5",       "checkpoint.steps=5",
                                    "validation.steps=2",      "batch.tokens=96",    "optimizer.weight_decay=0.01",
                                    "optimizer.kind=\"adamw\""};
    if (family != "gpt2" && family != "llama" && family != "bert") all.push_back("validation.metric=bleu");
    all.insert(all.end(), settings.begin(), settings.end());
    const Recipe recipe = corpus_.recipe(family, all);
    run_on(1, recipe, of + "-1");
    const std::vector<ValidationReport> validations = listener_.validations;
    for (const int ranks : {2, 3, 4}) {
      const std::string name = of + "-" + std::to_string(ranks);
      EXPECT_EQ(run_on(ranks, recipe, name).steps, 5);
      expect_same(of + "-1", name, "step-000000005");
      ASSERT_EQ(listener_.validations.size(), validations.size());
      for (size_t i = 0; i < validations.size(); ++i) {
        EXPECT_EQ(listener_.validations[i].loss, validations[i].loss);
        EXPECT_EQ(listener_.validations[i].bleu, validations[i].bleu);
      }
    }
  }
}

// No recipe trains one yet: updates alone, without a run around them. Which experts a token goes to differs from shard
// to shard.
TEST_F(RanksTest, SameBitsOfAMixtureOfExperts) {
  nlohmann::ordered_json config = small_configs().at("mixtral");
  config.update({{"hidden_size", 64}, {"intermediate_size", 128}});
  std::vector<TokenExample> examples;
  for (int32_t i = 0; i < 24; ++i) {
    examples.emplace_back();
    for (int32_t j = 0; j < 4 + i % 5; ++j) examples.back().first.push_back(3 + (i * 7 + j * j) % 20);
  }
  const auto weights_of = [&](int ranks) {
    std::vector<real> weights;
    on_ranks(ranks, [&](Courier& courier) {
      Recipe recipe;
      recipe.model = {{"model_type", "llama"}};  // what it is trained for
      recipe.batch.shards = 4;
      recipe.optimizer.clip_norm = 0.5;
      const auto model = make_model(parse_config(config));
      Parameters parameters([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); });
      parameters.initialize(1);
      Updater updater(recipe, *model, parameters, courier);
      for (int64_t step = 0; step < 4; ++step) updater.run({examples}, step, 1e-2);
      if (courier.first()) weights.assign(parameters.data(), parameters.data() + parameters.size());
    });
    return weights;
  };
  const std::vector<real> alone = weights_of(1);
  for (const int ranks : {2, 3, 4}) EXPECT_TRUE(weights_of(ranks) == alone) << ranks;
}

TEST_F(RanksTest, LabelsAreLearnedWithTheSameBitsToo) {
  corpus_.write("labels.tsv", {"a b c\tyes", "b c d\tno", "c d e\tyes", "d e f\tno", "e f g\tyes", "f g h\tno"});
  const Recipe recipe = corpus_.recipe(
      "bert", {"data.train=labels.tsv", "data.valid=labels.tsv", "data.labels=true", "validation.metric=exact",
               "batch.shards=3", "stop.steps=4", "checkpoint.steps=4", "checkpoint.ema=0.5", "validation.steps=2"});
  run_on(1, recipe, "one");
  for (const int ranks : {2, 3}) {
    const std::string name = std::to_string(ranks);
    run_on(ranks, recipe, name);
    expect_same("one", name, "step-000000004");
  }
}

TEST_F(RanksTest, GoesOnWithAnotherNumberOfRanks) {
  const Recipe recipe = corpus_.recipe(
      "marian", {"batch.shards=8", "model.d_model=256", "model.encoder_ffn_dim=512", "checkpoint.ema=0.9",
                 "stop.steps=8", "checkpoint.steps=8", "optimizer.clip_norm=1", "validation.steps=3"});
  run_on(1, recipe, "whole");
  EXPECT_TRUE(run_on(3, recipe, "parts", 2).interrupted);
  EXPECT_TRUE(run_on(8, recipe, "parts", 4).interrupted);
  EXPECT_EQ(listener_.resumed, 2);
  EXPECT_TRUE(run_on(1, recipe, "parts", 6).interrupted);
  EXPECT_FALSE(run_on(2, recipe, "parts").interrupted);
  EXPECT_EQ(listener_.resumed, 6);
  expect_same("whole", "parts", "step-000000008");
  EXPECT_TRUE(run_on(2, recipe, "parts").was_finished);
}

TEST_F(RanksTest, OneShardIsWhatTrainingWithoutRanksDoes) {
  const std::vector<std::string> settings = {"checkpoint.steps=10", "checkpoint.ema=0.9", "optimizer.clip_norm=0.5"};
  run(corpus_.recipe("gpt2", settings), "plain");
  run_on(1, corpus_.recipe("gpt2", settings), "one");
  expect_same("plain", "one", "step-000000010");
  std::vector<std::string> cut = settings;
  cut.push_back("batch.shards=2");
  run_on(1, corpus_.recipe("gpt2", cut), "two");  // another order of additions: nearly the same
  EXPECT_FALSE(bytes("plain/model.safetensors") == bytes("two/model.safetensors"));
  const auto plain = weights("plain"), two = weights("two");
  for (const auto& [name, numbers] : plain)
    for (size_t i = 0; i < numbers.size(); ++i) ASSERT_NEAR(numbers[i], two.at(name)[i], 2e-3) << name;
}

TEST_F(RanksTest, ADivergedRunGoesBackOnAllRanks) {
  const Recipe recipe = corpus_.recipe("gpt2", {"batch.shards=2", "schedule.learning_rate=1e6", "stop.steps=20",
                                                "checkpoint.steps=2", "optimizer.clip_norm=0"});
  const auto ended = [&](int ranks, const std::string& name) {
    try {
      run_on(ranks, recipe, name);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string alone = ended(1, "one");
  EXPECT_THAT(alone, HasSubstr("diverged"));
  EXPECT_EQ(ended(2, "two"), alone);
}

TEST_F(RanksTest, MoreRanksThanShardsIsAnErrorThatNamesTheKey) {
  const Recipe recipe = corpus_.recipe("gpt2", {"batch.shards=2"});
  try {
    run_on(3, recipe, "run");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("3 ranks and batch.shards is 2"));
  }
  EXPECT_FALSE(std::filesystem::exists(corpus_ / "run/data"));  // before anything is prepared
}

TEST_F(RanksTest, RanksOfOtherProgramsAreNamed) {
  const Recipe recipe = corpus_.recipe("gpt2", {"batch.shards=2"});
  try {
    on_ranks(2, [&](Courier& courier) {
      RunFolder folder = courier.first() ? RunFolder(corpus_ / "run") : RunFolder::of_other_process(corpus_ / "run");
      Listener listener;
      train(recipe, folder, listener,
            {.program = {{"hash of the sources", "1234"}, {"oneDNN", courier.first() ? "2.7.2" : "3.1.0"}},
             .ranks = &courier});
    });
    FAIL();
  } catch (const ErrorOnAll& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
    EXPECT_THAT(error.what(), HasSubstr("oneDNN is 3.1.0 instead of 2.7.2"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("hash")));
  }
}

TEST_F(RanksTest, RanksThatDifferAreNamed) {
  try {
    on_ranks(2, [&](Courier& courier) {
      const Recipe recipe = corpus_.recipe("gpt2", {"batch.shards=2", courier.first() ? "seed=1" : "seed=2"});
      RunFolder folder = courier.first() ? RunFolder(corpus_ / "run") : RunFolder::of_other_process(corpus_ / "run");
      Listener listener;
      train(recipe, folder, listener, {.ranks = &courier});
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
    EXPECT_THAT(error.what(), HasSubstr("seed is 2 instead of 1"));
  }
}

}  // namespace
}  // namespace limpid
