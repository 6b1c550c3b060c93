// Edits of weights on models as users have them: saved, opened again, float and quantised, packed and not.

#include "inspect/weight_edit.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/temporary_folder.h"
#include "formats/quantize.h"
#include "formats/quantized_folder.h"
#include "inspect/small_session.h"
#include "inspect/weights.h"

namespace limpid {
namespace {

struct Case {
  std::string config;
  int bits;  // 32: as trained
};

// Whole blocks of 32 inputs, so that four bits are four bits.
nlohmann::ordered_json wide(const std::string& name) {
  nlohmann::ordered_json json = small_configs().at(name);
  if (name == "llama") json.merge_patch({{"hidden_size", 64}, {"intermediate_size", 96}});
  return json;
}

class WeightEditing : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    SmallModel small = small_model(wide(GetParam().config));
    if (GetParam().bits == 32) {
      write_model(folder_.path(), small.model->config(), *small.parameters);
    } else {
      const QuantizedModel quantized = quantize(*small.model, {.bits = GetParam().bits});
      write_quantized_folder(folder_.path(), *quantized.model, {.bits = GetParam().bits});
    }
    session_.loaded = load_model(folder_.path(), {.need_tokenizers = false});
    session_.loaded.tokenizers.source = session_.loaded.tokenizers.target = std::make_shared<LetterTokenizer>();
    example_ = session_.example({"ejcrg", session_.two_sided() ? "fdkb" : ""});
  }

  // The down-projection, or what stands at its place, of the last layer that writes.
  std::string weight() const {
    std::string name;
    session_.model().each_parameter([&](const Weight& weight) {
      if (weight.is_matrix() && (weight.role == ParameterRole::feed_forward || weight.role == ParameterRole::recurrent))
        name = weight.name;
    });
    return name;
  }
  const Weight& stored(const Model& model) const {
    const Weight* found = nullptr;
    model.each_parameter([&](const Weight& w) {
      if (w.name == weight()) found = &w;
    });
    return *found;
  }
  std::vector<real> logits(const Session& session) const {
    const Tensor y = forward_logits(session.model(), example_, nullptr);
    return {y.values().data, y.values().data + y.values().size()};
  }
  Session edited(const std::string& edit) const {
    return with_weight_edits(session_, {parse_weight_edit(weight() + edit)});
  }

  TemporaryFolder folder_;
  Session session_;
  Example example_;
};

double largest_difference(const std::vector<real>& a, const std::vector<real>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max<double>(most, std::abs(a[i] - b[i]));
  return most;
}

TEST_P(WeightEditing, IsTheModelThatHasTheseNumbers) {
  const std::vector<real> before = logits(session_);  // packs whatever is packed when first used
  const Session zeroed = edited("*=0");
  const std::vector<real> after = logits(zeroed);
  EXPECT_GT(largest_difference(before, after), 1e-3);
  for (const real x : numbers_of(stored(zeroed.model()))) ASSERT_EQ(x, real{0});
  EXPECT_EQ(logits(session_), before);
  // Numbers doubled and halved again are the same numbers: bit for bit where the weight was of reals.
  const Session same =
      with_weight_edits(session_, {parse_weight_edit(weight() + "*=2"), parse_weight_edit(weight() + "*=0.5")});
  if (stored(session_.model()).type == kRealType)
    EXPECT_EQ(logits(same), before);
  else
    EXPECT_LT(largest_difference(logits(same), before), 0.3 * largest_difference(before, after));
}

TEST_P(WeightEditing, EditedBeforeTheFirstUseTheModelStaysAsItIs) {
  const std::vector<real> zeroed = logits(edited("*=0"));
  Session again;
  again.loaded = load_model(folder_.path(), {.need_tokenizers = false});
  EXPECT_EQ(logits(session_), logits(again));
  EXPECT_GT(largest_difference(logits(session_), zeroed), 1e-3);
}

TEST_P(WeightEditing, TwoAtOnceSeeTheirOwn) {
  const std::vector<std::string> edits = {"*=0", "*=-1"};
  std::vector<std::vector<real>> alone, together(edits.size());
  for (const std::string& edit : edits) alone.push_back(logits(edited(edit)));
  EXPECT_GT(largest_difference(alone[0], alone[1]), 1e-3);
  Session fresh;  // nothing is packed yet: both threads and the model itself pack what they share
  fresh.loaded = load_model(folder_.path(), {.need_tokenizers = false});
  const Session first = with_weight_edits(fresh, {parse_weight_edit(weight() + edits[0])}),
                second = with_weight_edits(fresh, {parse_weight_edit(weight() + edits[1])});
  std::thread other([&] { together[1] = logits(second); });
  together[0] = logits(first);
  other.join();
  EXPECT_EQ(together[0], alone[0]);
  EXPECT_EQ(together[1], alone[1]);
}

INSTANTIATE_TEST_SUITE_P(Saved, WeightEditing,
                         testing::Values(Case{"marian", 32}, Case{"marian", 8}, Case{"pegasus_learned_gated", 32},
                                         Case{"llama", 32}, Case{"llama", 8}, Case{"llama", 4}, Case{"gpt2", 32},
                                         Case{"gpt2", 8}, Case{"bert", 32}, Case{"bert", 8}, Case{"gru_attention", 32},
                                         Case{"gru_attention", 8}),
                         [](const auto& test) { return test.param.config + "_" + std::to_string(test.param.bits); });

TEST(OwnedWeights, AModelOutlivesWhatLoadedIt) {
  const TemporaryFolder folder;
  const SmallModel small = small_model(small_configs().at("marian"));
  write_model(folder.path(), small.model->config(), *small.parameters);
  const std::shared_ptr<const Model> model = load_model(folder.path(), {.need_tokenizers = false}).model;
  std::unique_ptr<Model> sharing = load_model(folder.path(), {.need_tokenizers = false}).model->sharing_weights();
  limpid::Run run({});
  const Tensor a = model->logits(run, small.batch), b = sharing->logits(run, small.batch);
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < a.cols(); ++j) ASSERT_EQ(a.values()(i, j), b.values()(i, j));
}

TEST(OwnedWeights, APackedFormIsOfOneType) {
  PackedCache cache;
  EXPECT_EQ(cache.get<int>([] { return 3; }), 3);
  EXPECT_THROW(cache.get<double>([] { return 4.0; }), Error);
}

}  // namespace
}  // namespace limpid
