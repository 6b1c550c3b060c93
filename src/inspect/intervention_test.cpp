// Interventions against formulas and against the run that is left alone.

#include "inspect/intervention.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "inspect/direction.h"
#include "inspect/effect.h"
#include "inspect/small_session.h"
#include "inspect/weights.h"

namespace limpid {
namespace {

using Kind = Intervention::Kind;

Tensor with(const Session& session, const Example& example, const std::vector<Intervention>& list) {
  Intervener probe(session, example, list);
  return forward_logits(session.model(), example, &probe);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  for (int64_t i = 0; i < a.rows(); ++i)
    if (std::memcmp(a.values().row(i), b.values().row(i), sizeof(real) * static_cast<size_t>(a.cols())) != 0)
      return false;
  return a.rows() == b.rows();
}

double distance(const Tensor& a, const Tensor& b) {
  double most = 0;
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < a.cols(); ++j)
      most = std::max(most, std::abs(static_cast<double>(a.values()(i, j)) - static_cast<double>(b.values()(i, j))));
  return most;
}

class AllFamilies : public testing::TestWithParam<std::string> {};

// All values that are there anyway; those that only a watcher gets (pairs, scales) come from other kernels.
TEST_P(AllFamilies, PatchingEverythingFromItselfChangesNoBit) {
  const SmallSession small(GetParam());
  std::vector<Intervention> list;
  for (const TapInfo& tap : list_taps(small.session.model()))
    if (!tap.keys && !tap.name.ends_with(".scale"))
      list.push_back({.kind = Kind::patch, .place = parse_place(tap.name), .from = small.text()});
  const Tensor before = forward_logits(small.session.model(), small.example(), nullptr);
  EXPECT_GT(list.size(), 4u);
  EXPECT_TRUE(same_bits(before, with(small.session, small.example(), list)));
}

TEST_P(AllFamilies, PatchingPairsAndScalesFromItselfChangesRoundingAtMost) {
  const SmallSession small(GetParam());
  const Tensor before = forward_logits(small.session.model(), small.example(), nullptr);
  for (const TapInfo& tap : list_taps(small.session.model())) {
    if (!tap.keys && !tap.name.ends_with(".scale")) continue;
    const Intervention self{.kind = Kind::patch, .place = parse_place(tap.name), .from = small.text()};
    EXPECT_LT(distance(before, with(small.session, small.example(), {self})), 1e-5) << tap.name;
  }
}

TEST_P(AllFamilies, SteeringByNothingAndScalingByOneChangeNoBit) {
  const SmallSession small(GetParam());
  const Tensor before = forward_logits(small.session.model(), small.example(), nullptr);
  for (const TapInfo& tap : list_taps(small.session.model())) {
    if (tap.keys || tap.name.ends_with(".scale")) continue;
    const Tensor scaled = with(small.session, small.example(), {parse_with_number(Kind::scale, tap.name + "=1")});
    EXPECT_TRUE(same_bits(before, scaled)) << tap.name;
    if (small.session.two_sided()) continue;  // a text alone has no target here
    const Intervention nowhere = parse_steering(tap.name + "=0*texts:" + small.text().text);
    EXPECT_TRUE(same_bits(before, with(small.session, small.example(), {nowhere}))) << tap.name;
  }
}

// One feature set to a number, since norms take no notice of a scale: the last, since the first gates of a GRU (r) have
// served when they are shown.
TEST_P(AllFamilies, EveryTapCanBeChangedAndMatters) {
  const SmallSession small(GetParam());
  const Tensor before = forward_logits(small.session.model(), small.example(), nullptr);
  for (const TapInfo& tap : list_taps(small.session.model())) {
    const Intervention change = tap.keys
                                    ? parse_with_number(Kind::scale, tap.name + "[head 0]=1.7")
                                    : parse_with_number(Kind::set, fmt::format("{}[{}]=3", tap.name, tap.cols - 1));
    EXPECT_GT(distance(before, with(small.session, small.example(), {change})), 1e-6) << tap.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, AllFamilies,
                         testing::Values("gpt2", "llama", "marian", "pegasus_learned_gated", "bert", "gru_attention",
                                         "lstm_attention", "gru_every_step"),
                         config_of_test);

TEST(Intervention, ZeroingTheUnembeddingsInputLeavesTheBias) {
  const SmallSession small("gpt2");
  const Tensor after =
      with(small.session, small.example(), {{.kind = Kind::zero, .place = parse_place("final_norm@1")}});
  const Tensor before = forward_logits(small.session.model(), small.example(), nullptr);
  for (int64_t j = 0; j < after.cols(); ++j) {
    EXPECT_EQ(after.values()(1, j), real{0});  // logits = W·0, this family has no bias
    EXPECT_EQ(after.values()(2, j), before.values()(2, j));
  }
}

TEST(Intervention, ZeroingANeuronTakesAwayItsColumn) {
  const SmallSession small("gpt2");
  const Model& model = small.session.model();
  const auto before = tap_values(model, small.example(), {"blocks.1.ffn.post", "blocks.1.ffn_out"});
  Intervener probe(small.session, small.example(),
                   {{.kind = Kind::zero, .place = parse_place("blocks.1.ffn.post[7]@2")}});
  FunctionProbe both;
  std::vector<real> row;
  both.replace("blocks.1.ffn.post", [&](const Tap& tap) { return probe.visit(tap); });
  both.on("blocks.1.ffn_out",
          [&](const Tap& tap) { row.assign(tap.value.values().row(2), tap.value.values().row(2) + 12); });
  forward_logits(model, small.example(), &both);
  const std::vector<real> down = WeightTable(small.session.model()).numbers("h.1.mlp.c_proj.weight");  // (in, out)
  const real fired = before.at("blocks.1.ffn.post").row(2)[7];
  for (int64_t j = 0; j < 12; ++j)
    EXPECT_NEAR(row[j], before.at("blocks.1.ffn_out").row(2)[j] - fired * down[7 * 12 + j], 1e-5);
}

TEST(Intervention, PatchingTheEmbeddingsFromAnotherTextGivesThatTextsLogits) {
  for (const char* name : {"llama", "marian", "gru_attention"}) {
    const SmallSession small(name);
    const Text other = small.other_text();
    std::vector<Intervention> list;
    for (const TapInfo& tap : list_taps(small.session.model()))
      if (tap.name.ends_with("embed"))
        list.push_back({.kind = Kind::patch, .place = parse_place(tap.name), .from = other});
    const Tensor wanted = forward_logits(small.session.model(), small.session.example(other), nullptr);
    const Tensor before = forward_logits(small.session.model(), small.example(), nullptr);
    EXPECT_GT(distance(before, wanted), 1e-3) << name;
    EXPECT_TRUE(same_bits(wanted, with(small.session, small.example(), list))) << name;
  }
}

TEST(Intervention, SteeringAddsTheDirection) {
  const SmallSession small("gpt2");
  const std::vector<double> direction = read_direction(small.session, "token:#5");
  std::vector<real> before, after;
  FunctionProbe reading;
  reading.on("final_norm",
             [&](const Tap& tap) { before.assign(tap.value.values().row(3), tap.value.values().row(3) + 12); });
  forward_logits(small.session.model(), small.example(), &reading);
  const Tensor logits = with(small.session, small.example(), {parse_steering("final_norm@3=2*token:#5")});
  double wanted = 0;
  for (size_t i = 0; i < direction.size(); ++i)
    wanted += direction[i] * (static_cast<double>(before[i]) + 2 * direction[i]);
  EXPECT_NEAR(static_cast<double>(logits.values()(3, 5)), wanted, 1e-4);
}

TEST(Intervention, TheMeanIsThatOfTheText) {
  const SmallSession small("gpt2");
  const std::vector<double> mean =
      tap_values(small.session.model(), small.example(), {"blocks.0.attn_out"}).at("blocks.0.attn_out").mean();
  Intervener probe(small.session, small.example(),
                   {{.kind = Kind::mean, .place = parse_place("blocks.0.attn_out@-1")}});
  Tensor changed;
  FunctionProbe reading;
  reading.replace("blocks.0.attn_out", [&](const Tap& tap) { return changed = probe.visit(tap); });
  forward_logits(small.session.model(), small.example(), &reading);
  for (size_t j = 0; j < mean.size(); ++j)
    EXPECT_NEAR(static_cast<double>(changed.values()(changed.rows() - 1, static_cast<int64_t>(j))), mean[j], 1e-6);
}

TEST(Intervention, OneHeadOfOneQueryOfAPattern) {
  const SmallSession small("marian");
  const Place place = parse_place("decoder.1.cross_attn.pattern[head 2, key 1]@2");
  Intervener probe(small.session, small.example(), {{.kind = Kind::set, .place = place, .number = 0.25}});
  int64_t different = 0;
  FunctionProbe reading;
  reading.replace(place.tap, [&](const Tap& tap) {
    const Tensor value = probe.visit(tap);
    const Tap after{tap.name, value, tap.layout};
    for (int64_t head = 0; head < tap.layout.heads; ++head)
      for (int64_t i = 0; i < tap.pairs(0, head).rows; ++i)
        for (int64_t j = 0; j < tap.pairs(0, head).cols; ++j)
          different += tap.pairs(0, head)(i, j) != after.pairs(0, head)(i, j);
    EXPECT_EQ(after.pairs(0, 2)(2, 1), real{0.25});
    return value;
  });
  forward_logits(small.session.model(), small.example(), &reading);
  EXPECT_EQ(different, 1);
}

TEST(Intervention, WeightEditsChangeTheirOwnSessionOnly) {
  const SmallSession small("llama");
  const Tensor before = forward_logits(small.session.model(), small.example(), nullptr);
  const Session edited =
      with_weight_edits(small.session, {parse_weight_edit("model.layers.0.mlp.down_proj.weight[:,3]*=0"),
                                        parse_weight_edit("model.layers.0.mlp.down_proj.weight[1,3]=0.5")});
  const std::vector<real> numbers = WeightTable(edited.model()).numbers("model.layers.0.mlp.down_proj.weight");
  EXPECT_EQ(numbers[3], real{0});
  EXPECT_EQ(numbers[20 + 3], real{0.5});
  EXPECT_GT(distance(before, forward_logits(edited.model(), small.example(), nullptr)), 1e-5);
  EXPECT_TRUE(same_bits(before, forward_logits(small.session.model(), small.example(), nullptr)));
}

TEST(Intervention, ARankOneEditAddsAnOuterProduct) {
  const SmallSession small("llama");
  const std::string name = "model.layers.1.self_attn.q_proj.weight";
  const std::vector<real> before = WeightTable(small.session.model()).numbers(name);
  const Session edited = with_weight_edits(small.session, {parse_weight_edit(name + "+=-2*outer(token:#4, embed:#9)")});
  const std::vector<real> after = WeightTable(edited.model()).numbers(name);
  const std::vector<double> left = read_direction(small.session, "token:#4"),
                            right = read_direction(small.session, "embed:#9");
  for (size_t i = 0; i < left.size(); ++i)
    for (size_t j = 0; j < right.size(); ++j)
      EXPECT_NEAR(static_cast<double>(after[i * 16 + j]),
                  static_cast<double>(before[i * 16 + j]) - 2 * left[i] * right[j], 1e-5);
}

TEST(Intervention, HoldsWhileGenerating) {
  for (const char* name : {"gpt2", "marian", "lstm_attention"}) {
    const SmallSession small(name);
    const Model& model = small.session.model();
    const std::vector<int32_t> plain = write_greedily(model, small.example(), 8, -1);
    ASSERT_EQ(plain.size(), 8u);
    Example changed = small.example();
    changed.changes = std::make_shared<Intervener>(
        small.session, changed, std::vector<Intervention>{parse_with_number(Kind::set, "logits[11]=1000")});
    EXPECT_EQ(write_greedily(model, changed, 8, -1), std::vector<int32_t>(8, 11)) << name;
    EXPECT_TRUE(write_greedily(model, changed, 8, 11).empty()) << name;
  }
}

TEST(Intervention, FilesAndLinesSayTheSame) {
  const InterventionList list = parse_interventions(R"(
[[intervention]]
zero = "blocks.1.ffn.post[1,3..5]@-1"
[[intervention]]
steer = "blocks.0.resid_post"
along = "token:#3"
by = -2.5
[[intervention]]
edit = "lm_head.weight[2,:]+=1"
)",
                                                    "file");
  ASSERT_EQ(list.values.size(), 2u);
  ASSERT_EQ(list.weights.size(), 1u);
  EXPECT_EQ(list.values[0].place.features, (std::vector<int64_t>{1, 3, 4, 5}));
  const Intervention line = parse_steering("blocks.0.resid_post=-2.5*token:#3");
  EXPECT_EQ(line.along, list.values[1].along);
  EXPECT_EQ(line.number, list.values[1].number);
  EXPECT_EQ(list.weights[0].row, 2);
  EXPECT_EQ(list.weights[0].column, -1);
}

std::string message(const std::function<void()>& wrong) {
  try {
    wrong();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Intervention, SaysWhatIsWrong) {
  const SmallSession small("gpt2");
  const auto run = [&](const std::string& place) {
    return message([&] { with(small.session, small.example(), {{.kind = Kind::zero, .place = parse_place(place)}}); });
  };
  EXPECT_NE(run("blocks.1.ffn.pots").find("did you mean blocks.1.ffn.post"), std::string::npos);
  EXPECT_NE(run("blocks.1.ffn.post[99]").find("has no feature 99"), std::string::npos);
  EXPECT_NE(run("blocks.1.attn.z[head 3]").find("has no head 3"), std::string::npos);
  EXPECT_NE(run("blocks.1.ffn.post@9").find("there is no position 9"), std::string::npos);
  EXPECT_NE(run("blocks.1.ffn.post[1").find("brackets"), std::string::npos);
  EXPECT_NE(message([&] { parse_interventions("[[intervention]]\nzeroo = \"x\"", "f"); }).find("did you mean zero"),
            std::string::npos);
  EXPECT_NE(message([&] { parse_interventions("[[intervention]]\nscale = \"x\"", "f"); }).find("by = "),
            std::string::npos);
  EXPECT_NE(message([&] {
              with_weight_edits(small.session, {parse_weight_edit("wte.weigth=1")});
            }).find("did you mean wte.weight"),
            std::string::npos);
  EXPECT_NE(message([&] {
              parse_steering("embed=2*tokne:x");
              read_direction(small.session, "tokne:x");
            }).find("did you mean token"),
            std::string::npos);
}

TEST(Intervention, ReadsNumpysVectors) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "v.npy";
  const auto read = [&](const std::string& shape) {
    std::ofstream file(path, std::ios::binary);
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }\n";
    file.write("\x93NUMPY\x01\x00", 8);
    const char length[] = {static_cast<char>(header.size()), 0};
    file.write(length, 2);
    file << header;
    const float numbers[] = {1, -2, 0.5, 4};
    file.write(reinterpret_cast<const char*>(numbers), sizeof(numbers));
    file.close();
    return read_npy_vector(path);
  };
  for (const char* shape : {"(4,)", "(1, 4)", "(4, 1)"})
    EXPECT_EQ(read(shape), (std::vector<double>{1, -2, 0.5, 4})) << shape;
  EXPECT_NE(message([&] { read("(2, 2)"); }).find("has the shape \"2, 2\": a direction is one vector"),
            std::string::npos);
  for (const char* shape : {"(3,)", "(5,)", "(0,)", "(-4,)", "()", "(4611686018427387904,)"})
    EXPECT_NE(message([&] { read(shape); }).find("truncated?"), std::string::npos) << shape;
  EXPECT_NE(message([&] { read("(4x)"); }).find("is no shape"), std::string::npos);
}

}  // namespace
}  // namespace limpid
