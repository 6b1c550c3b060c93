// What must hold for every model, whatever its numbers; docs/numerics.md promises it.

#include <gtest/gtest.h>

#include <cmath>

#include "base/parallel.h"
#include "base/parallel_statistics.h"
#include "models/language_model.h"
#include "models/seq2seq.h"
#include "models/small_models.h"

namespace limpid {
namespace {

class Invariants : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { small_ = small_model(small_configs().at(GetParam())); }
  void TearDown() override { set_threads(0); }

  std::vector<real> logits(const Batch& batch, Probe* probe = nullptr) const {
    limpid::Run run({.probe = probe});
    return numbers(small_.model->logits(run, batch));
  }
  static std::vector<real> numbers(const Tensor& x) {
    std::vector<real> result;
    for (int64_t i = 0; i < x.rows(); ++i) result.insert(result.end(), x.values().row(i), x.values().row(i) + x.cols());
    return result;
  }
  // Loss and all gradients of one training step.
  std::vector<real> step(Probe* probe = nullptr, uint64_t seed = 3) const {
    Gradients gradients(*small_.parameters);
    const Arena arena;
    Tape tape(arena, &gradients);
    limpid::Run run({.arena = arena, .tape = &tape, .probe = probe, .train = true, .seed = seed});
    const Loss loss = small_.model->loss(run, small_.batch, {.smoothing = static_cast<real>(0.1)});
    tape.backward();
    gradients.finish();
    std::vector<real> result(gradients.data(), gradients.data() + gradients.size());
    result.push_back(static_cast<real>(loss.sum()));
    return result;
  }
  static double largest_difference(const std::vector<real>& a, const std::vector<real>& b) {
    EXPECT_EQ(a.size(), b.size());
    double most = 0, scale = 1e-30;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
      scale = std::max(scale, std::abs(static_cast<double>(b[i])));
    }
    return most / scale;
  }
  bool batch_norm() const { return small_.model->config().norm == NormKind::batch; }

  SmallModel small_;
};

TEST_P(Invariants, SameSeedSameBits) {
  EXPECT_EQ(step(), step());
  EXPECT_EQ(logits(small_.batch), logits(small_.batch));
}

// Wide and long enough that products, norms, attention and losses are cut into several pieces.
class WideInvariants : public Invariants {
 protected:
  void SetUp() override {
    nlohmann::ordered_json json = small_configs().at(GetParam());
    for (auto& [key, value] : json.items()) {
      if (key == "vocab_size") value = 600;
      for (const char* width : {"d_model", "n_embd", "hidden_size", "embed_dim"})
        if (key == width) value = 96;
      for (const char* features : {"encoder_ffn_dim", "decoder_ffn_dim", "n_inner", "intermediate_size"})
        if (key == features) value = 320;
      for (const char* heads : {"encoder_attention_heads", "decoder_attention_heads", "n_head", "num_attention_heads",
                                "num_key_value_heads"})
        if (key == heads) value = 4;
      for (const char* positions : {"max_position_embeddings", "n_positions"})
        if (key == positions) value = 128;
    }
    small_ = small_model(json);
    small_.batch = long_batch(small_.model->config());
  }

  static Batch long_batch(const Config& config) {
    Random random(7);
    const auto rows = [&] { return random_rows(random, {90, 17, 120, 64}, config.vocab); };
    if (config.continues_text()) return Batch::next_tokens(rows());
    if (!config.writes()) {
      const auto texts = rows();
      return Batch::masked(texts, texts);
    }
    const auto source = rows();
    return Batch::pairs(source, rows(), 1);
  }
};

TEST_P(WideInvariants, AnyNumberOfThreadsSameBits) {
  set_threads(1);
  const int64_t none = shared_loops();
  const auto logits_alone = logits(small_.batch), step_alone = step();
  EXPECT_EQ(shared_loops(), none);
  for (int count : {2, 3}) {
    set_threads(count);
    const int64_t before = shared_loops();
    EXPECT_EQ(logits(small_.batch), logits_alone);
    EXPECT_EQ(step(), step_alone);
    EXPECT_GT(shared_loops() - before, 20);  // or nothing was shown
  }
}

INSTANTIATE_TEST_SUITE_P(All, WideInvariants,
                         testing::Values("marian", "marian_batch_norm", "pegasus_learned_gated", "gpt2", "llama",
                                         "llama_tied_bias", "bert", "gru_attention", "lstm"),
                         config_of_test);

TEST_P(Invariants, AnEmptyProbeChangesNoBit) {
  FunctionProbe empty;
  EXPECT_EQ(logits(small_.batch, &empty), logits(small_.batch));
  EXPECT_EQ(step(&empty), step());
}

TEST_P(Invariants, ReadingChangesNoBitUnlessItTakesAnotherKernel) {
  for (const char* pattern :
       {"*resid*", "*ffn*", "*.q", "*.z", "*embed", "*gates", "*.h", "context", "*attn_out", "*norm1"}) {
    FunctionProbe probe;
    probe.on(pattern, [](const Tap&) {});
    EXPECT_EQ(logits(small_.batch, &probe), logits(small_.batch)) << pattern;
  }
  if (batch_norm()) return;  // by statistics that never met data the values run away, and rounding with them
  FunctionProbe everything;  // scores, patterns, scales and logits are kept: equal within rounding
  everything.on("*", [](const Tap&) {});
  EXPECT_LT(largest_difference(logits(small_.batch, &everything), logits(small_.batch)), 2e-6);
  EXPECT_LT(largest_difference(step(&everything), step()), 2e-6);
}

// The configs of which something can be said at all.
std::vector<std::string> configs_where(const std::function<bool(const Config&)>& applies) {
  std::vector<std::string> names;
  for (const auto& [name, json] : small_configs())
    if (applies(parse_config(json))) names.push_back(name);
  return names;
}

// One sequence of a batch.
Batch only(const Batch& batch, int64_t i) {
  auto pick = [&](const Tokens& tokens) {
    if (tokens.sequences.count() == 0) return tokens;
    const auto begin = tokens.ids.begin() + tokens.sequences.begin(i);
    return Tokens::of({{begin, begin + tokens.sequences.length(i)}});
  };
  const auto begin = batch.labels.begin() + batch.input.sequences.begin(i);
  return {pick(batch.source), pick(batch.input), {begin, begin + batch.input.sequences.length(i)}};
}

class BatchInvariants : public Invariants {};
INSTANTIATE_TEST_SUITE_P(WithoutBatchNorm, BatchInvariants,
                         testing::ValuesIn(configs_where([](const Config& c) { return c.norm != NormKind::batch; })),
                         config_of_test);

TEST_P(BatchInvariants, AloneEqualsInABatch) {
  const auto together = logits(small_.batch);
  std::vector<real> alone;
  for (int64_t i = 0; i < small_.batch.input.sequences.count(); ++i) {
    const Batch one = only(small_.batch, i);
    if (std::all_of(one.labels.begin(), one.labels.end(), [](int32_t label) { return label < 0; })) continue;
    const auto rows = logits(one);
    alone.insert(alone.end(), rows.begin(), rows.end());
  }
  EXPECT_EQ(alone, together);
}

class CausalInvariants : public Invariants {};
INSTANTIATE_TEST_SUITE_P(Writing, CausalInvariants,
                         testing::ValuesIn(configs_where([](const Config& c) { return c.writes(); })), config_of_test);

TEST_P(CausalInvariants, TheFutureDoesNotChangeThePast) {
  Batch changed = small_.batch;
  const int64_t last = changed.input.sequences.length(0) - 1;
  changed.input.ids[last] = (changed.input.ids[last] + 1) % static_cast<int32_t>(small_.model->config().vocab);
  const auto before = logits(small_.batch), after = logits(changed);
  const int64_t vocab = small_.model->config().vocab;
  for (int64_t i = 0; i < last * vocab; ++i) ASSERT_EQ(before[i], after[i]) << "token " << i / vocab;
  double moved = 0;  // and the present does change
  for (int64_t i = last * vocab; i < (last + 1) * vocab; ++i)
    moved += std::abs(static_cast<double>(before[i] - after[i]));
  EXPECT_GT(moved, 0);
}

class DropoutInvariants : public Invariants {};
INSTANTIATE_TEST_SUITE_P(WithDropout, DropoutInvariants, testing::ValuesIn(configs_where([](const Config& c) {
                           const DropoutConfig& d = c.dropout;
                           return d.embedding + d.attention + d.activation + d.residual > 0;
                         })),
                         config_of_test);

TEST_P(DropoutInvariants, DropoutOnlyInTraining) {
  EXPECT_NE(step(nullptr, 3), step(nullptr, 4));
  EXPECT_EQ(logits(small_.batch), logits(small_.batch));
}

// Transformers that write: they keep keys and values, and the output layer reads the residual stream.
class DecoderInvariants : public Invariants {};
INSTANTIATE_TEST_SUITE_P(Decoders, DecoderInvariants, testing::ValuesIn(configs_where([](const Config& c) {
                           return c.continues_text() || c.cross_attention();
                         })),
                         config_of_test);

TEST_P(DecoderInvariants, CachedDecodingEqualsTheFullPass) {
  // Where angles depend on the length of the text, cached keys are turned on as it grows, but deeper layers keep what
  // the first one made of a shorter text: with one layer, the last token is the same.
  const RopeScaling scaling = small_.model->config().rope.scaling;
  const bool by_length = scaling == RopeScaling::dynamic || scaling == RopeScaling::longrope;
  if (by_length) {
    nlohmann::ordered_json json = small_configs().at(GetParam());
    json["num_hidden_layers"] = 1;
    small_ = small_model(json);
  }
  const Batch batch = only(small_.batch, 1);
  auto full = logits(batch);
  KeyValueCache cache(1);
  std::vector<real> cached;
  Tensor memory;
  const auto* translator = dynamic_cast<const Seq2Seq*>(small_.model.get());
  if (translator) {
    limpid::Run run({});
    memory = translator->encode(run, batch.source);
  }
  // The first tokens at once, then one by one.
  for (size_t begin = 0, end = 2; begin < batch.input.ids.size(); begin = end, end = begin + 1) {
    end = std::min(end, batch.input.ids.size());
    Batch part;
    part.input = Tokens::of({{batch.input.ids.begin() + begin, batch.input.ids.begin() + end}});
    limpid::Run run({.cache = &cache});
    const Tensor x = translator
                         ? translator->decode(run, part.input, begin == 0 ? memory : Tensor{}, batch.source.sequences)
                         : small_.model->forward(run, part, TokenChoice::all());
    const auto rows = numbers(small_.model->output().logits(run, x, part.input.sequences));
    cached.insert(cached.end(), rows.begin(), rows.end());
  }
  for (auto* all : {&cached, &full})
    if (by_length) all->erase(all->begin(), all->end() - small_.model->config().vocab);
  EXPECT_LT(largest_difference(cached, full), 1e-5);
}

class ResidualInvariants : public Invariants {};
INSTANTIATE_TEST_SUITE_P(PlainSum, ResidualInvariants, testing::ValuesIn(configs_where([](const Config& c) {
                           return !c.recurrent() && c.norm_place != NormPlace::after && c.residual;
                         })),
                         config_of_test);

TEST_P(ResidualInvariants, ResidualPartsSumToTheResidualStream) {
  const Config& config = small_.model->config();
  const std::string stack = config.cross_attention() ? "decoder." : "";
  std::vector<real> sum, stream;
  auto add_up = [&](const Tap& tap, real factor) {
    const auto part = numbers(tap.value);
    if (sum.empty()) sum.resize(part.size());
    for (size_t i = 0; i < part.size(); ++i) sum[i] += factor * part[i];
  };
  FunctionProbe probe;
  const bool embedded_as_one = config.embedding_norm;
  std::vector<std::string> begin = {"embed", "pos_embed"};
  if (embedded_as_one) begin = {"embed_norm"};
  for (const std::string& part : begin) probe.on(stack + part, [&](const Tap& tap) { add_up(tap, 1); });
  const std::string blocks = stack.empty() ? "blocks." : stack;
  std::vector<std::string> outputs = {"*.attn_out", "*.cross_attn_out", "*.ffn_out"};
  if (config.norm_place != NormPlace::before) outputs = {"*.norm1_post", "*.norm2_post"};
  for (const std::string& part : outputs)
    probe.on(blocks + part, [&](const Tap& tap) { add_up(tap, config.residual_factor); });
  probe.on(blocks + "*.resid_post", [&](const Tap& tap) { stream = numbers(tap.value); });
  logits(small_.batch, &probe);
  EXPECT_LT(largest_difference(sum, stream), 1e-6);
}

TEST_P(DecoderInvariants, TheLastLogitLensIsTheLogits) {
  const Config& config = small_.model->config();
  // The last block's output through the final norm, where there is one, and the unembedding.
  const std::string side = config.cross_attention() ? "decoder." : "";
  const std::string last = config.embed_width > 0 ? side + "embed_out"
                           : config.final_norm    ? side + "final_norm"
                                                  : (side.empty() ? "blocks." : side) + "1.resid_post";
  std::vector<real> lens;
  FunctionProbe probe;
  limpid::Run plain({});
  probe.on(last,
           [&](const Tap& tap) { lens = numbers(small_.model->output().logits(plain, tap.value, *tap.layout.rows)); });
  EXPECT_EQ(logits(small_.batch, &probe), lens);
}

INSTANTIATE_TEST_SUITE_P(All, Invariants, testing::ValuesIn(small_config_names()), config_of_test);

}  // namespace
}  // namespace limpid
