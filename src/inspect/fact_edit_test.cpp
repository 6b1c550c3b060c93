// Facts rewritten in a model of random weights: the closed form does what it says, and nothing of it remains.

#include "inspect/fact_edit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "inspect/fact_neurons.h"
#include "models/small_models.h"
#include "text/tokenizer_training.h"

namespace limpid {
namespace {

Session random_session(const FactWorld& world) {
  Session session;
  session.loaded.tokenizers =
      train_tokenizers({.kind = TokenizerKind::words}, [&](const std::function<void(std::string_view)>& use) {
        for (const FactSentence& sentence : world.sentences()) use(sentence.text());
      });
  SmallModel small = small_model({{"model_type", "gpt2"},
                                  {"vocab_size", session.loaded.tokenizers.target->size()},
                                  {"n_embd", 16},
                                  {"n_layer", 2},
                                  {"n_head", 2},
                                  {"n_positions", 32},
                                  {"activation_function", "relu"}});
  small.model->keep(std::shared_ptr<Parameters>(std::move(small.parameters)));
  session.loaded.model = std::move(small.model);
  return session;
}

TEST(FactEdit, TakesInEveryTrainedWayAndLeavesTheModelAsItIs) {
  const FactWorld world({.persons = 200});
  const Session session = random_session(world);
  const FactPrompts prompts(session, world);
  const std::vector<size_t> some = {0, 5, 100, 777};
  const std::vector<FactAnswer> before = prompts.ask(some);
  {
    const FactEditor editor(session, world, prompts, {.columns = 0, .margin = 1, .ridge = 1e-9});
    const FactEdit edit = editor.edit(0, prompts.object_token("tennis"));
    EXPECT_TRUE(edit.took);
    EXPECT_EQ(edit.paraphrases_changed, edit.paraphrases);
    EXPECT_EQ(edit.paraphrases + edit.held_out, kFactPatterns);
    EXPECT_GT(edit.relative_change, 0);
    EXPECT_EQ(edit.columns.size(), 64u);
  }
  // As many columns drawn at random: the same ones for a fact, others for another seed.
  const auto drawn = [&](uint64_t seed, size_t fact) {
    const FactEditor editor(session, world, prompts, {.columns = 8, .random_columns = seed});
    return editor.edit(fact, prompts.object_token("tennis")).columns;
  };
  EXPECT_EQ(drawn(1, 0).size(), 8u);
  EXPECT_EQ(drawn(1, 0), drawn(1, 0));
  EXPECT_NE(drawn(1, 0), drawn(2, 0));
  EXPECT_NE(drawn(1, 0), drawn(1, 1));
  const std::vector<FactAnswer> after = prompts.ask(some);
  for (size_t i = 0; i < some.size(); ++i) EXPECT_EQ(before[i].log_probability, after[i].log_probability);
}

TEST(FactNeurons, OnlyTheParaphrasesThatWereGivenDecideHowManyAreSilenced) {
  const FactWorld world;
  const Session session = random_session(world);
  const FactPrompts prompts(session, world);
  const size_t fact = 0;
  const std::vector<size_t> all = prompts.of_fact(fact), some = {all[0], all[2]};
  const auto ranked = rank_neurons(neuron_worth(session, prompts, some), std::vector<double>(128), 64);
  const Ablation one = ablate_fact(prompts, fact, some, ranked, 3);
  EXPECT_EQ(one.paraphrases, 2);
  EXPECT_LE(one.paraphrases_lost, 2);
  EXPECT_EQ(ablate_fact(prompts, fact, all, ranked, 3).paraphrases, kFactPatterns);
}

TEST(FactNeurons, WorthIsWhatSilencingTakesAwayToFirstOrder) {
  const FactWorld world({.persons = 200});
  const Session session = random_session(world);
  const FactPrompts prompts(session, world);
  const std::vector<size_t> one = {3};
  const std::vector<double> worth = neuron_worth(session, prompts, one);
  ASSERT_EQ(worth.size(), 128u);
  const Example example = prompts.example(3);
  const Tensor plain = forward_logits(session.model(), example, nullptr);
  const int32_t answer = prompts.all()[3].answer;
  const auto best_other = [&](const real* row) {
    int32_t best = answer == 0 ? 1 : 0;
    for (int32_t i = 0; i < plain.cols(); ++i)
      if (i != answer && row[i] > row[best]) best = i;
    return best;
  };
  const int64_t last = plain.rows() - 1;
  const int32_t rival = best_other(plain.values().row(last));
  const auto lead = [&](const Tensor& logits) {
    return static_cast<double>(logits.values()(last, answer)) - static_cast<double>(logits.values()(last, rival));
  };
  double predicted = 0, measured = 0, square = 0;
  for (int64_t i = 0; i < 128; ++i) {
    SilentNeurons probe({{i / 64, i % 64}});
    const double lost = lead(plain) - lead(forward_logits(session.model(), example, &probe));
    predicted += worth[i] * lost;
    measured += lost * lost;
    square += worth[i] * worth[i];
  }
  EXPECT_GT(predicted / std::sqrt(measured * square), 0.8);  // cosine of the two
}

}  // namespace
}  // namespace limpid
