// The numbers of every look … --json, computed again by other means: captured taps and plain formulas. On models that
// were saved and loaded, in float and quantised.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "inspect/alignment_json.h"
#include "inspect/attribution_json.h"
#include "inspect/beam_tree.h"
#include "inspect/csv.h"
#include "inspect/effect_json.h"
#include "inspect/embeddings_json.h"
#include "inspect/fact_study_json.h"
#include "inspect/gradient_json.h"
#include "inspect/head_statistics_json.h"
#include "inspect/intervention.h"
#include "inspect/lens_json.h"
#include "inspect/neuron_json.h"
#include "inspect/neuron_texts.h"
#include "inspect/pictures.h"
#include "inspect/saved_session.h"
#include "inspect/tap_names_json.h"
#include "inspect/tap_rows.h"
#include "inspect/trace_json.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

class LookJson : public testing::TestWithParam<std::tuple<std::string, Saved>> {
 protected:
  LookJson() : saved(std::get<0>(GetParam()), std::get<1>(GetParam())), example(saved.example()) {}

  const Session& session() const { return saved.session; }
  const Model& model() const { return saved.session.model(); }
  bool language_model() const { return model().config().continues_text(); }
  bool recurrent() const { return model().config().recurrent(); }
  std::string block(int64_t layer) const { return fmt::format("{}.{}", stack_scope(model().config()), layer); }

  SavedSession saved;
  Example example;
};

std::string name_of_case(const testing::TestParamInfo<std::tuple<std::string, Saved>>& info) {
  return std::get<0>(info.param) + (std::get<1>(info.param) == Saved::floats ? "_float" : "_q8");
}

INSTANTIATE_TEST_SUITE_P(All, LookJson,
                         testing::Combine(testing::Values("gpt2", "llama", "marian", "gru_attention"),
                                          testing::Values(Saved::floats, Saved::quantized)),
                         name_of_case);

// The softmax of a row in wide numbers.
std::vector<double> probabilities(const real* row, int64_t count) {
  double most = -1e300, sum = 0;
  for (int64_t i = 0; i < count; ++i) most = std::max(most, static_cast<double>(row[i]));
  std::vector<double> p(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) sum += p[i] = std::exp(static_cast<double>(row[i]) - most);
  for (double& x : p) x /= sum;
  return p;
}

int64_t rank_of(const std::vector<double>& p, int32_t token) {
  return 1 + std::count_if(p.begin(), p.end(), [&](double x) { return x > p[token]; });
}

TEST_P(LookJson, LensEndsWithTheModelsOwnProbabilities) {
  const Json json = lens_json(session(), example, logit_lens(model(), example, {.top = 4}));
  const Tensor logits = forward_logits(model(), example, nullptr);
  const Json& last = json["lens"].back()["positions"];
  ASSERT_EQ(std::ssize(last), example.positions());
  for (int64_t i = 0; i < example.positions(); ++i) {
    const std::vector<double> p = probabilities(logits.values().row(i), logits.cols());
    EXPECT_EQ(last[i]["position"], i);
    EXPECT_EQ(last[i]["token"], example.input[i]);
    double entropy = 0;
    for (double x : p) entropy -= x * std::log2(x);
    EXPECT_NEAR(last[i]["entropy_bits"].get<double>(), entropy, 1e-4);
    for (const Json& token : last[i]["top"])
      EXPECT_NEAR(token["probability"].get<double>(), p[token["id"].get<size_t>()], 1e-5);
    if (example.next[i] < 0) continue;
    EXPECT_EQ(last[i]["watched"]["id"], example.next[i]);
    EXPECT_EQ(last[i]["watched"]["rank"], rank_of(p, example.next[i]));
    EXPECT_NEAR(last[i]["watched"]["probability"].get<double>(), p[example.next[i]], 1e-5);
    EXPECT_NEAR(last[i]["watched"]["logit"].get<double>(), static_cast<double>(logits.values()(i, example.next[i])),
                1e-4);
  }
}

TEST_P(LookJson, AttributionAddsUpToTheLogit) {
  const int64_t position = 2;
  const int32_t token = token_to_attribute(session(), example, position);
  EXPECT_EQ(token, example.next[position]);
  const Json json =
      attribution_json(session(), attribute_logit(model(), example, {.position = position, .token = token}));
  const Tensor logits = forward_logits(model(), example, nullptr);
  double sum = 0;
  for (const Json& part : json["parts"]) sum += part["value"].get<double>();
  EXPECT_NEAR(json["logit"].get<double>(), static_cast<double>(logits.values()(position, token)), 1e-4);
  // Products of quantised weights round their inputs to 8 bits, which the sum of parts does not.
  const double slack = std::get<1>(GetParam()) == Saved::floats ? 1e-4 : 0.05;
  EXPECT_NEAR(sum, json["logit"].get<double>(), slack * (1 + std::abs(sum)));
  EXPECT_NEAR(json["sum"].get<double>() - json["logit"].get<double>(), json["error"].get<double>(), 1e-9);
  EXPECT_EQ(json["parts"].back().contains("kind"), true);
}

TEST_P(LookJson, GradientAgreesWithTheDifferenceThatAStepMakes) {
  const std::string tap = recurrent() ? "decoder.0.h" : block(0) + ".resid_post";
  const Objective objective = read_objective(session(), example, {.token = "#5", .position = -1});
  const TapGradients all = tap_gradients(model(), example, objective, {tap});
  const Json json = gradient_json(session(), all, objective, 3);
  const Tensor logits = forward_logits(model(), example, nullptr);
  EXPECT_NEAR(json["value"].get<double>(), static_cast<double>(logits.values()(example.positions() - 1, 5)), 1e-4);
  ASSERT_EQ(json["strongest"].size(), 3u);
  if (std::get<1>(GetParam()) == Saved::quantized) return;  // rounding to 8 bits hides a small step
  const Json& strong = json["strongest"][0];
  const double value = strong["value"].get<double>(), step = 0.01;
  std::vector<double> ends;
  for (const double sign : {-1.0, 1.0}) {
    Example changed = example;
    changed.changes = std::make_shared<Intervener>(
        session(), example,
        std::vector<Intervention>{parse_with_number(
            Intervention::Kind::set, fmt::format("{}={}", strong["place"].get<std::string>(), value + sign * step))});
    const Tensor moved = forward_logits(model(), changed, nullptr);
    ends.push_back(static_cast<double>(moved.values()(example.positions() - 1, 5)));
  }
  EXPECT_NEAR((ends[1] - ends[0]) / (2 * step), strong["gradient"].get<double>(),
              0.02 * (1 + std::abs(strong["gradient"].get<double>())));
  EXPECT_NEAR(strong["gradient_times_value"].get<double>(), value * strong["gradient"].get<double>(), 1e-9);
}

TEST_P(LookJson, TraceBeginsAndEndsWithProbabilitiesOfTheText) {
  TraceOptions options{.samples = 2, .position = -1, .answer = 4};
  options.subject = subject_positions(session(), example, "", "0..1");
  EXPECT_EQ(options.subject, (std::vector<int64_t>{0, 1}));
  const Json json = trace_json(session(), example, causal_trace(model(), example, options), options);
  const Tensor logits = forward_logits(model(), example, nullptr);
  const auto p = probabilities(logits.values().row(example.positions() - 1), logits.cols());
  EXPECT_NEAR(json["clean"].get<double>(), p[4], 1e-5);
  EXPECT_EQ(json["answer"], session().piece(4));
  EXPECT_EQ(json["tokens"].get<std::vector<std::string>>(), example.input);
  // The last layer's vector at the answer, restored, is the whole answer.
  const Json& maps = json["maps"][recurrent() ? "h" : "resid_post"];
  const double last = maps.back()["probability"].back().get<double>();
  if (!recurrent()) {
    EXPECT_NEAR(last, p[4], std::get<1>(GetParam()) == Saved::floats ? 1e-5 : 0.02);
  }
  for (const auto& [name, layers] : json["maps"].items())
    for (const Json& layer : layers) EXPECT_EQ(std::ssize(layer["probability"]), example.positions());
}

TEST_P(LookJson, EffectComparesTwoPasses) {
  Example changed = example;
  const std::string place = recurrent() ? "decoder.0.h@1" : block(0) + ".resid_post@1";
  changed.changes = std::make_shared<Intervener>(
      session(), example, std::vector<Intervention>{{.kind = Intervention::Kind::zero, .place = parse_place(place)}});
  const Tensor before = forward_logits(model(), example, nullptr), after = forward_logits(model(), changed, nullptr);
  const Json json = effect_json(session(), example,
                                compare_logits(before.values(), after.values(), {.position = 1, .watched = {3}}), 1);
  const auto p = probabilities(before.values().row(1), before.cols()),
             q = probabilities(after.values().row(1), after.cols());
  double divergence = 0;
  for (size_t i = 0; i < p.size(); ++i) divergence += p[i] * std::log(p[i] / q[i]);
  EXPECT_NEAR(json["positions"][1]["kl"].get<double>(), divergence, 1e-6);
  EXPECT_EQ(json["positions"][0]["kl"].get<double>(), 0);  // the future does not change the past
  EXPECT_NEAR(json["tokens"][0]["probability_before"].get<double>(), p[3], 1e-6);
  EXPECT_NEAR(json["tokens"][0]["probability_after"].get<double>(), q[3], 1e-6);
  EXPECT_EQ(json["same_bits"], false);
}

TEST_P(LookJson, HeadStatisticsAreThoseOfThePatterns) {
  bool given = false;
  const Json json = heads_json(head_statistics(model(), [&]() -> std::optional<Example> {
    if (std::exchange(given, true)) return std::nullopt;
    return example;
  }));
  ASSERT_FALSE(json.empty());
  for (const Json& head : json) {
    const std::string attention = head["attention"], tap = attention == "align" ? attention : attention + ".pattern";
    const TapValues pattern = tap_values(model(), example, {tap}).at(tap);
    double entropy = 0, first = 0;
    for (int64_t i = 0; i < pattern.positions; ++i) {
      const real* row = pattern.row(i, head["head"].get<int64_t>());
      first += static_cast<double>(row[0]) / static_cast<double>(pattern.positions);
      for (int64_t j = 0; j < pattern.cols; ++j)
        if (row[j] > 0)
          entropy -= static_cast<double>(row[j]) * std::log2(static_cast<double>(row[j])) /
                     static_cast<double>(pattern.positions);
    }
    EXPECT_NEAR(head["entropy"].get<double>(), entropy, 1e-4) << attention;
    EXPECT_NEAR(head["first"].get<double>(), first, 1e-5) << attention;
  }
}

TEST_P(LookJson, NeuronsFiredAsTheirTapSays) {
  if (recurrent()) return;  // no feed-forward network
  const NeuronReader reader(model(), "", 1);
  const Json json = fired_json(session().writer(), reader, reader.fired(example, 1, 5), 3);
  const std::string tap = block(1) + ".ffn.post";
  const TapValues post = tap_values(model(), example, {tap}).at(tap);
  ASSERT_EQ(json.size(), 5u);
  double before = 1e30;
  for (const Json& neuron : json) {
    EXPECT_NEAR(neuron["activation"].get<double>(), static_cast<double>(post.row(1)[neuron["neuron"].get<int64_t>()]),
                1e-6);
    EXPECT_NEAR(neuron["written"].get<double>(),
                std::abs(neuron["activation"].get<double>()) * neuron["answer_length"].get<double>(), 1e-5);
    EXPECT_LE(neuron["written"].get<double>(), before);
    before = neuron["written"].get<double>();
    EXPECT_EQ(neuron["promoted"].size(), 3u);
  }
  bool given = false;
  const Json firing = firing_json(firing_of(session(), reader, 3, 2, [&]() -> std::optional<Example> {
    if (std::exchange(given, true)) return std::nullopt;
    return example;
  }));
  int64_t positive = 0;
  for (int64_t i = 0; i < post.positions; ++i) positive += post.row(i)[3] > 0;
  EXPECT_NEAR(firing["share"].get<double>(), static_cast<double>(positive) / static_cast<double>(post.positions), 1e-9);
}

TEST_P(LookJson, EmbeddingsAreTheRowsOfTheTable) {
  const EmbeddingSpace space(model(), "");
  const WordVectors words = read_words(session(), space, session().writer(), {"c", "#7", "d"});
  const Picture picture = similarity_picture(words, Similarity::dot);
  const Json json = to_json(picture)["maps"][0];
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) {
      double dot = 0;
      for (size_t k = 0; k < words.vectors[i].size(); ++k) dot += words.vectors[i][k] * words.vectors[j][k];
      EXPECT_NEAR(json["values"][i][j].get<double>(), dot, 1e-5);
    }
  const Json near = neighbours_json(session().writer(), "c", space.nearest(words.vectors[0], 3, Similarity::cosine));
  EXPECT_EQ(near["nearest"][0]["id"], 2);  // a word is most like itself
  EXPECT_NEAR(near["nearest"][0]["similarity"].get<double>(), 1, 1e-6);
  const Json map = map_json(words, principal_components(words.vectors));
  EXPECT_EQ(map["points"].size(), 3u);
}

TEST_P(LookJson, PicturesHoldTheTapsNumbers) {
  const std::string tap =
      recurrent() ? "align" : block(1) + (session().two_sided() ? ".cross_attn" : ".attn") + ".pattern";
  const TapValues values = tap_values(model(), example, {tap}).at(tap);
  const Json maps = to_json(tap_picture(session(), example, tap))["maps"];
  ASSERT_EQ(std::ssize(maps), values.heads);
  if (session().two_sided()) {  // rows over a source: what is read there, and what is written
    EXPECT_EQ(maps[0]["rows"][0], "<start> → " + session().piece(example.next[0]));
    EXPECT_EQ(maps[0]["rows"][1], example.input[1] + " → " + session().piece(example.next[1]));
  }
  for (int64_t head = 0; head < values.heads; ++head)
    for (int64_t i = 0; i < values.positions; ++i)
      for (int64_t j = 0; j < values.cols; ++j)
        EXPECT_NEAR(maps[head]["values"][i][j].get<double>(), static_cast<double>(values.row(i, head)[j]), 1e-6);
}

TEST_P(LookJson, APictureOfOneHeadIsThatHeadsPart) {
  if (recurrent()) return;
  const std::string attention = block(1) + (session().two_sided() ? ".self_attn" : ".attn");
  const auto values = tap_values(model(), example, {attention + ".scores", attention + ".q"});
  const int64_t heads = values.at(attention + ".scores").heads, size = values.at(attention + ".q").cols / heads;
  for (const char* name : {".scores", ".q"}) {
    const Json maps = to_json(tap_picture(session(), example, attention + name, heads - 1))["maps"];
    ASSERT_EQ(std::ssize(maps), 1);
    const TapValues& all = values.at(attention + name);
    const bool pairs = std::string_view(name) == ".scores";
    ASSERT_EQ(std::ssize(maps[0]["values"][0]), pairs ? all.cols : size);
    for (int64_t i = 0; i < all.positions; ++i)
      EXPECT_NEAR(maps[0]["values"][i][1].get<double>(),
                  static_cast<double>(pairs ? all.row(i, heads - 1)[1] : all.row(i)[(heads - 1) * size + 1]), 1e-6);
  }
  EXPECT_THROW(tap_picture(session(), example, attention + ".q", heads), Error);
}

TEST_P(LookJson, TapsAreListedWithTheirShapes) {
  const std::vector<TapInfo> taps = list_taps(model());
  const Json json = taps_json(taps);
  ASSERT_EQ(json.size(), taps.size());
  for (size_t i = 0; i < taps.size(); ++i) {
    const auto values = tap_values(model(), example, {taps[i].name});
    ASSERT_TRUE(values.contains(taps[i].name)) << taps[i].name;
    const TapValues& tap = values.at(taps[i].name);
    if (taps[i].keys)
      EXPECT_EQ(tap.heads, json[i]["heads"].get<int64_t>()) << taps[i].name;
    else
      EXPECT_EQ(json[i]["shape"], fmt::format("({} tokens, {})", axis_name(taps[i].rows), tap.cols));
  }
}

TEST_P(LookJson, TheBeamIsATreeOfTheSearch) {
  if (!session().two_sided()) {
    const BeamTree tree = grow_beam(model(), example, {.search = {.beam = 3, .max_tokens = 5, .ends = {2}}});
    ASSERT_FALSE(tree.found.empty());
    // The chain rule: the nodes on the way to a hypothesis multiply to its probability.
    for (const BeamTree::Found& one : tree.found) {
      double sum = 0;
      for (int64_t node = one.node; node > 0; node = tree.nodes[node].parent)
        sum += tree.nodes[node].token_log_probability;
      EXPECT_NEAR(sum, one.hypothesis.log_probability, 1e-6);
    }
    return;
  }
  const std::vector<std::vector<int32_t>> sources = {example.batch.source.ids};
  GenerateOptions options{.beam = 3, .n_best = 3, .max_tokens = 6};
  options.rules.ends = {2};
  const std::vector<Hypothesis> expected = translate(model(), sources, options).at(0);
  BeamTreeOptions tree_options{.search = {.beam = 3, .max_tokens = 6, .ends = {2}}};
  const BeamTree tree = grow_beam(model(), example, tree_options);
  ASSERT_EQ(tree.found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(tree.found[i].hypothesis.ids, expected[i].ids);
    EXPECT_EQ(tree.found[i].hypothesis.score, expected[i].score);
    std::vector<int32_t> ids;
    for (int64_t node = tree.found[i].node; node > 0; node = tree.nodes[node].parent)
      ids.insert(ids.begin(), tree.nodes[node].id);
    if (tree.found[i].ended) ids.pop_back();
    EXPECT_EQ(ids, expected[i].ids);
  }
  const Json json = beam_json(session().writer(), tree, tree_options);
  EXPECT_EQ(json["nodes"].size(), tree.nodes.size());
  EXPECT_EQ(json["hypotheses"][0]["score"].get<double>(), expected[0].score);
}

TEST(StudyJson, AlignmentsHaveTheirErrorRate) {
  AlignmentScore score{.which = {.layer = 1, .head = 3}};
  // Found: (0, 0), (1, 1), (2, 0); sure: (0, 0), (1, 2); possible besides: (1, 1).
  score.counts.add({{0, 0}, {1, 1}, {2, 0}}, {{0, 0}, {1, 2}}, {{0, 0}, {1, 2}, {1, 1}});
  const Json json = alignment_score_json(score);
  EXPECT_EQ(json["layer"], 1);
  EXPECT_EQ(json["head"], 3);
  EXPECT_NEAR(json["precision"].get<double>(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(json["recall"].get<double>(), 1.0 / 2, 1e-12);
  EXPECT_NEAR(json["aer"].get<double>(), 1 - (1.0 + 2.0) / (3.0 + 2.0), 1e-12);
  const Json words = word_attention_json({.source = {"a", "b"}, .target = {"c"}, .pattern = {{0.25, 0.75}}});
  EXPECT_EQ(words, (Json{{"source", {"a", "b"}}, {"target", {"c"}}, {"attention", {{0.25, 0.75}}}}));
}

TEST(StudyJson, SummariesOfFactsAreMeans) {
  const FactEdit one{.relative_change = 0.1,
                     .took = true,
                     .paraphrases = 4,
                     .paraphrases_changed = 4,
                     .held_out = 2,
                     .held_out_changed = 1,
                     .others_same = 1,
                     .same_subject = 1,
                     .same_relation_and_answer = 0.5};
  FactEdit other = one;
  other.took = false;
  other.paraphrases_changed = 2;
  other.others_same = 0.9;
  other.relative_change = 0.3;
  const EditSummary edits({one, other});
  EXPECT_NEAR(edits.took, 0.5, 1e-12);
  EXPECT_NEAR(edits.paraphrases, 0.75, 1e-12);
  EXPECT_NEAR(edits.held_out, 0.5, 1e-12);
  EXPECT_NEAR(edits.others, 0.95, 1e-12);
  EXPECT_NEAR(edits.least, 0.9, 1e-12);
  EXPECT_NEAR(edits.change, 0.2, 1e-12);
  EXPECT_NEAR(edits.alike, 0.5, 1e-12);
}

TEST(Csv, FieldsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a \"b\", c"), "\"a \"\"b\"\", c\"");
  EXPECT_EQ(csv_field("\""), "\"\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

}  // namespace
}  // namespace limpid
