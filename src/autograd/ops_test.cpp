// Every operation against central differences, in the double build; the checker itself against planted errors.

#include "autograd/ops.h"

#include <gtest/gtest.h>

#include <numeric>

#include "autograd/gradient_check.h"

namespace limpid {
namespace {

#ifdef LIMPID_F64

// Weights by shape, and their rows as values that gradients flow into.
class Inputs {
 public:
  explicit Inputs(std::vector<std::vector<int64_t>> shapes) {
    for (size_t i = 0; i < shapes.size(); ++i)
      weights_.push_back({.name = "w" + std::to_string(i), .shape = shapes[i], .initial = Initial::normal(0.7)});
    parameters_ = std::make_unique<Parameters>([&](const WeightVisitor& visitor) {
      for (Weight& weight : weights_) visitor(weight);
    });
    parameters_->initialize(3);
  }

  const Weight& weight(size_t i) const { return weights_[i]; }
  Tensor value(Run& run, size_t i) const {
    std::vector<int32_t> rows(weights_[i].shape[0]);
    std::iota(rows.begin(), rows.end(), 0);
    return embedding(run, weights_[i], rows);
  }
  double error(const ScalarFunction& function, bool train = false) const {
    const auto result = check_gradients(*parameters_, function, {.run = {.train = train, .seed = 5}});
    return result.error;
  }

 private:
  std::vector<Weight> weights_;
  std::unique_ptr<Parameters> parameters_;
};

constexpr double kTolerance = 1e-6;

TEST(OpsGradient, Linear) {
  const Inputs in({{5, 7}, {4, 7}, {4}, {3, 7}, {3}});
  const Weight *weights[] = {&in.weight(1), &in.weight(3)}, *biases[] = {&in.weight(2), &in.weight(4)};
  EXPECT_LT(
      in.error([&](limpid::Run& run) { return weighted_sum(run, linear(run, in.value(run, 0), weights, biases)); }),
      kTolerance);
}

TEST(OpsGradient, LinearOfStackedWeights) {
  const Inputs in({{5, 4}, {8, 4}, {16, 4}});  // whole cache lines: they lie side by side and are multiplied as one
  const Weight* weights[] = {&in.weight(1), &in.weight(2)};
  EXPECT_LT(in.error([&](limpid::Run& run) { return weighted_sum(run, linear(run, in.value(run, 0), weights, {})); }),
            kTolerance);
}

TEST(OpsGradient, LinearInOut) {
  const Inputs in({{5, 7}, {7, 4}, {4}});
  const Weight *weights[] = {&in.weight(1)}, *biases[] = {&in.weight(2)};
  EXPECT_LT(in.error([&](limpid::Run& run) {
    return weighted_sum(run, linear(run, in.value(run, 0), weights, biases, WeightLayout::in_out));
  }),
            kTolerance);
}

TEST(OpsGradient, ElementByElement) {
  const Inputs in({{5, 6}, {5, 6}});
  EXPECT_LT(in.error([&](limpid::Run& run) { return weighted_sum(run, add(run, in.value(run, 0), in.value(run, 1))); }),
            kTolerance);
  EXPECT_LT(in.error([&](limpid::Run& run) { return weighted_sum(run, scale(run, in.value(run, 0), 1.7)); }),
            kTolerance);
  EXPECT_LT(
      in.error([&](limpid::Run& run) { return weighted_sum(run, multiply(run, in.value(run, 0), in.value(run, 1))); }),
      kTolerance);
  EXPECT_LT(in.error(
                [&](limpid::Run& run) {
                  return weighted_sum(run, dropout_add(run, in.value(run, 0), in.value(run, 1), 0.4));
                },
                true),
            kTolerance);
  EXPECT_LT(
      in.error([&](limpid::Run& run) { return weighted_sum(run, dropout_add(run, {}, in.value(run, 1), 0.4)); }, true),
      kTolerance);
}

TEST(OpsGradient, ValueUsedTwice) {
  const Inputs in({{5, 6}});
  EXPECT_LT(in.error([&](limpid::Run& run) {
    const Tensor x = in.value(run, 0);
    const Tensor y = add(run, x, x);
    return weighted_sum(run, add(run, y, multiply(run, x, y)));
  }),
            kTolerance);
}

TEST(OpsGradient, Activations) {
  const Inputs in({{5, 9}, {5, 9}});
  for (Activation f : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu,
                       Activation::tanh}) {
    const double rate = 0.3;
    EXPECT_LT(
        in.error([&](limpid::Run& run) { return weighted_sum(run, activation(run, in.value(run, 0), f, rate)); }, true),
        kTolerance);
    EXPECT_LT(in.error(
                  [&](limpid::Run& run) {  // not the sole owner: cannot work in place
                    const Tensor x = in.value(run, 0);
                    return weighted_sum(run, add(run, activation(run, x, f, rate), x));
                  },
                  true),
              kTolerance);
    if (f == Activation::tanh) continue;
    EXPECT_LT(in.error(
                  [&](limpid::Run& run) {
                    return weighted_sum(run, gated_activation(run, in.value(run, 0), in.value(run, 1), f, rate));
                  },
                  true),
              kTolerance);
  }
}

TEST(OpsGradient, Norms) {
  const Inputs in({{5, 9}, {9}, {9}});
  const real eps = 1e-5;
  const Weight &gain = in.weight(1), &bias = in.weight(2);
  EXPECT_LT(in.error([&](limpid::Run& run) {
    return weighted_sum(run, layer_norm(run, in.value(run, 0), gain, &bias, eps));
  }),
            kTolerance);
  EXPECT_LT(in.error([&](limpid::Run& run) {
    return weighted_sum(run, layer_norm(run, in.value(run, 0), gain, nullptr, eps));
  }),
            kTolerance);
  EXPECT_LT(in.error([&](limpid::Run& run) { return weighted_sum(run, rms_norm(run, in.value(run, 0), gain, eps)); }),
            kTolerance);
  for (NormKind kind : {NormKind::layer, NormKind::rms})
    EXPECT_LT(in.error([&](limpid::Run& run) {
      const Tensor x = in.value(run, 0);
      return weighted_sum(run, normalize_by(run, x, norm_scale(run, x, kind, eps), kind, gain,
                                            kind == NormKind::layer ? &bias : nullptr));
    }),
              kTolerance);
}

TEST(OpsGradient, BatchNormByTheBatchAndByRunningStatistics) {
  const Inputs in({{5, 9}, {9}, {9}});
  Weight mean{.name = "mean", .shape = {9}}, variance{.name = "variance", .shape = {9}};
  const std::vector<real> means(9, 0.3), variances(9, 1.7);
  mean.data = means.data();
  variance.data = variances.data();
  for (bool train : {true, false})
    EXPECT_LT(in.error(
                  [&](limpid::Run& run) {
                    return weighted_sum(
                        run, batch_norm(run, in.value(run, 0), in.weight(1), in.weight(2), {&mean, &variance}, 1e-5));
                  },
                  train),
              kTolerance);
}

TEST(OpsGradient, Rows) {
  const Inputs in({{5, 6}, {3, 6}, {5, 2}});
  const std::vector<int32_t> ids = {4, 0, 0, 2};
  EXPECT_LT(in.error([&](limpid::Run& run) { return weighted_sum(run, embedding(run, in.weight(0), ids, 1.5)); }),
            kTolerance);
  EXPECT_LT(in.error([&](limpid::Run& run) { return weighted_sum(run, select_rows(run, in.value(run, 0), ids)); }),
            kTolerance);
  EXPECT_LT(in.error([&](limpid::Run& run) {
    const Tensor parts[] = {in.value(run, 0), in.value(run, 1)};
    return weighted_sum(run, concatenate_rows(run, parts));
  }),
            kTolerance);
  EXPECT_LT(in.error([&](limpid::Run& run) {
    const Tensor parts[] = {in.value(run, 0), in.value(run, 2)};
    return weighted_sum(run, concatenate_columns(run, parts));
  }),
            kTolerance);
  EXPECT_LT(in.error([&](limpid::Run& run) {  // slices share one gradient
    const Tensor x = in.value(run, 0);
    return weighted_sum(run, add(run, x.columns(1, 2), x.columns(2, 2))) + weighted_sum(run, x.slice(2, 3));
  }),
            kTolerance);
}

TEST(OpsGradient, Rotary) {
  const Inputs in({{4, 12}});
  const std::vector<int32_t> positions = {0, 1, 2, 9};
  const auto usual = std::make_shared<Rotation>(Rotation{{1, 0.1, 0.01}, 6});
  const auto part = std::make_shared<Rotation>(Rotation{{0.7, 0.2}, 6, 1.3});  // two numbers of a head are not turned
  EXPECT_LT(in.error([&](limpid::Run& run) {
    return weighted_sum(run, rotary(run, in.value(run, 0), positions, {{1, usual}, {3, part}}));
  }),
            kTolerance);
}

TEST(OpsGradient, NormsOfPartsWithAnOffset) {
  const Inputs in({{4, 12}, {4}, {4}, {1, 12}});
  for (const size_t rows : {0, 3})
    for (const real offset : {0.0, 1.0}) {
      const NormGain gain(in.weight(1), offset);
      EXPECT_LT(in.error([&](limpid::Run& run) {
        return weighted_sum(run, rms_norm(run, in.value(run, rows), gain, 1e-3, 3)) +
               weighted_sum(run, layer_norm(run, in.value(run, rows), gain, &in.weight(2), 1e-3, 3)) +
               weighted_sum(run, rms_norm(run, in.value(run, rows), NormGain(), 1e-3));
      }),
                kTolerance);
    }
}

TEST(OpsGradient, ClipsCapsAndRows) {
  const Inputs in({{4, 6}, {4, 1}, {5, 3}});
  const std::vector<int32_t> rows = {3, 0, 3, 5}, buckets = {0, 4, 4, 2};
  EXPECT_LT(in.error([&](limpid::Run& run) {
    return weighted_sum(run, clip(run, in.value(run, 0), 0.5)) +
           weighted_sum(run, soft_cap(run, in.value(run, 0), 0.8)) +
           weighted_sum(run, scale_rows(run, in.value(run, 0), in.value(run, 1))) +
           weighted_sum(run, spread_rows(run, in.value(run, 0), rows, 6)) +
           weighted_sum(run, bucket_bias(run, in.weight(2), buckets));
  }),
            kTolerance);
}

TEST(OpsGradient, Routes) {
  const Inputs in({{6, 5}});
  for (const bool normalize : {false, true})
    EXPECT_LT(in.error([&](limpid::Run& run) {
      return weighted_sum(run, route(run, in.value(run, 0), 2, normalize).shares);
    }),
              kTolerance);
}

AttentionBatch small_attention(bool causal) {
  AttentionBatch batch;
  batch.shape = {.heads = 4, .kv_heads = 2, .head_size = 5, .scale = 0.4, .causal = causal};
  batch.queries = Sequences({3, 1, 4});
  batch.keys = causal ? batch.queries : Sequences({2, 5, 1});
  return batch;
}

TEST(OpsGradient, Attention) {
  for (bool causal : {false, true}) {
    const AttentionBatch batch = small_attention(causal);
    const Inputs in({{8, 20}, {8, 10}, {8, 10}});
    EXPECT_LT(in.error(
                  [&](limpid::Run& run) {
                    return weighted_sum(
                        run, attention(run, in.value(run, 0), in.value(run, 1), in.value(run, 2), batch, 0.3));
                  },
                  true),
              kTolerance);
    EXPECT_LT(in.error(
                  [&](limpid::Run& run) {
                    Tensor pairs = attention_scores(run, in.value(run, 0), in.value(run, 1), batch);
                    pairs = attention_softmax(run, attention_mask(run, pairs, batch), batch);
                    return weighted_sum(run, attention_values(run, pairs, in.value(run, 2), batch, 0.3));
                  },
                  true),
              kTolerance);
  }
}

TEST(OpsGradient, AttentionInAWindowWithCapAndBias) {
  for (const bool causal : {false, true})
    for (const bool steps : {false, true}) {
      AttentionBatch batch = small_attention(true);
      batch.shape.causal = causal;
      batch.shape.window = 2;
      batch.shape.softcap = 0.6;
      batch.bias_zero = 4 + kernels::kBiasMargin;
      const Inputs in({{8, 20}, {8, 10}, {8, 10}, {4, 2 * batch.bias_zero}});
      EXPECT_LT(in.error([&](limpid::Run& run) {
        AttentionBatch biased = batch;
        biased.bias = in.value(run, 3);
        const Tensor q = in.value(run, 0), k = in.value(run, 1), v = in.value(run, 2);
        if (!steps) return weighted_sum(run, attention(run, q, k, v, biased, 0));
        const Tensor masked = attention_mask(run, attention_scores(run, q, k, biased), biased);
        return weighted_sum(run, attention_values(run, attention_softmax(run, masked, biased), v, biased, 0));
      }),
                kTolerance);
    }
}

TEST(OpsGradient, AdditiveScores) {
  const Inputs in({{4, 6}, {7, 6}, {6}});
  const Sequences queries({1, 1, 2}), keys({3, 2, 2});
  EXPECT_LT(in.error([&](limpid::Run& run) {
    return weighted_sum(run, additive_scores(run, in.value(run, 0), in.value(run, 1), in.weight(2), queries, keys));
  }),
            kTolerance);
}

TEST(OpsGradient, RecurrentCells) {
  const Inputs in({{3, 12}, {3, 12}, {3, 4}, {3, 16}, {3, 16}});
  EXPECT_LT(
      in.error([&](limpid::Run& run) { return weighted_sum(run, gru_gates(run, in.value(run, 0), in.value(run, 1))); }),
      kTolerance);
  EXPECT_LT(
      in.error([&](limpid::Run& run) { return weighted_sum(run, gru_state(run, in.value(run, 0), in.value(run, 2))); }),
      kTolerance);
  EXPECT_LT(in.error([&](limpid::Run& run) {
    return weighted_sum(run, lstm_gates(run, in.value(run, 3), in.value(run, 4)));
  }),
            kTolerance);
  EXPECT_LT(
      in.error([&](limpid::Run& run) { return weighted_sum(run, lstm_cell(run, in.value(run, 3), in.value(run, 2))); }),
      kTolerance);
  EXPECT_LT(in.error([&](limpid::Run& run) {
    return weighted_sum(run, lstm_state(run, in.value(run, 3), in.value(run, 2)));
  }),
            kTolerance);
}

TEST(OpsGradient, CrossEntropy) {
  const Inputs in({{6, 5}, {11, 5}, {11}});
  const std::vector<int32_t> labels = {0, 10, 3, 3, 7, 1};
  const LossOptions options{.smoothing = 0.1};
  EXPECT_LT(in.error([&](limpid::Run& run) {
    return cross_entropy(run, in.value(run, 0), in.weight(1), &in.weight(2), labels, options).mean();
  }),
            kTolerance);
  const Weight *weights[] = {&in.weight(1)}, *biases[] = {&in.weight(2)};
  EXPECT_LT(in.error([&](limpid::Run& run) {
    return cross_entropy(run, linear(run, in.value(run, 0), weights, biases), labels, options).mean();
  }),
            kTolerance);
}

// What is differentiated is 0.7·L + 1.3·M, of one x, one W, and other labels.
TEST(OpsGradient, TwoLosses) {
  const Inputs in({{6, 5}, {11, 5}, {11}});
  const std::vector<int32_t> labels = {0, 10, 3, 3, 7, 1}, others = {5, 5, 0, 2, 10, 9};
  const Weight *weights[] = {&in.weight(1)}, *biases[] = {&in.weight(2)};
  EXPECT_LT(in.error([&](limpid::Run& run) {
    const Tensor x = in.value(run, 0);
    const Loss first = cross_entropy(run, x, in.weight(1), &in.weight(2), labels, {.smoothing = 0.1, .upstream = 0.7});
    const Loss second = cross_entropy(run, linear(run, x, weights, biases), others, {.upstream = 1.3});
    return 0.7 * first.mean() + 1.3 * second.mean();
  }),
            kTolerance);
  EXPECT_LT(in.error([&](limpid::Run& run) {
    const Tensor x = in.value(run, 0);
    const Loss first = cross_entropy(run, x, in.weight(1), &in.weight(2), labels, {.upstream = 0.7});
    const Loss second = cross_entropy(run, x, in.weight(1), &in.weight(2), others, {.upstream = 1.3});
    return 0.7 * first.mean() + 1.3 * second.mean();
  }),
            kTolerance);
}

TEST(OpsGradient, TheCheckerCatchesAPlantedSign) {
  const Inputs in({{3, 4}});
  const double error = in.error([&](limpid::Run& run) {
    const Tensor x = in.value(run, 0);
    Tensor y = constant(run, x.values());
    if (run.tape()) {
      y.track_gradient();
      run.tape()->record([x, y](Tape& tape) {  // the identity, but its gradient has the wrong sign
        const GradientTarget dx = tape.grad_out(x);
        const ConstMatrix dy = tape.grad(y);
        for (int64_t i = 0; i < dy.rows; ++i)
          for (int64_t j = 0; j < dy.cols; ++j) dx.view(i, j) = -dy(i, j);
      });
    }
    return weighted_sum(run, y);
  });
  EXPECT_GT(error, 1);
}

#endif  // LIMPID_F64

TEST(Ops, CrossEntropyFromLogitsAndInChunksAgree) {
  Weight table{.name = "x", .shape = {70, 8}, .initial = Initial::normal(1)};
  Weight output{
      .name = "w", .shape = {90000, 8}, .initial = Initial::normal(1)};  // so wide that rows go in several chunks
  Parameters parameters([&](const WeightVisitor& visitor) { visitor(table), visitor(output); });
  parameters.initialize(1);
  std::vector<int32_t> rows(70), labels(70);
  std::iota(rows.begin(), rows.end(), 0);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>(i * 1283);
  limpid::Run run({});
  const Tensor x = embedding(run, table, rows);
  const Weight* weights[] = {&output};
  const Loss chunked = cross_entropy(run, x, output, nullptr, labels, {});
  const Loss whole = cross_entropy(run, linear(run, x, weights, {}), labels, {});
  EXPECT_EQ(chunked.tokens(), 70);
  EXPECT_NEAR(chunked.sum(), whole.sum(), 1e-4 * whole.sum());
}

// Both ways of computing a loss: nothing is written before the way back, which then knows the loss that was there for
// the asking, and two losses on one tape add up to what each gives by itself, times its share.
TEST(Ops, LossesAreRecordedAndAddUp) {
  Weight table{.name = "x", .shape = {6, 8}, .initial = Initial::normal(1)};
  Weight output{.name = "w", .shape = {30, 8}, .initial = Initial::normal(1)};
  Parameters parameters([&](const WeightVisitor& visitor) { visitor(table), visitor(output); });
  parameters.initialize(1);
  const std::vector<int32_t> rows = {0, 1, 2, 3, 4, 5}, labels = {7, 29, 0, 3, 3, 11}, others = {1, 1, 2, 28, 9, 0};
  const Weight* weights[] = {&output};
  const auto gradients_of = [&](real first, real second) {
    Gradients gradients(parameters);
    const Arena arena;
    Tape tape(arena, &gradients);
    limpid::Run run({.arena = arena, .tape = &tape});
    const Tensor x = embedding(run, table, rows);
    std::vector<Loss> losses;
    if (first != 0) losses.push_back(cross_entropy(run, x, output, nullptr, labels, {.upstream = first}));
    if (second != 0) losses.push_back(cross_entropy(run, linear(run, x, weights, {}), others, {.upstream = second}));
    EXPECT_THROW(gradients.of(output), Error);  // nothing is written before the way back
    const double asked = losses.front().sum();
    tape.backward();
    EXPECT_EQ(losses.front().sum(), asked);
    gradients.finish();
    return std::vector<real>(gradients.data(), gradients.data() + gradients.size());
  };
  const auto one = gradients_of(1, 0), other = gradients_of(0, 1), both = gradients_of(real(0.7), real(1.3));
  double most = 0;
  for (size_t i = 0; i < both.size(); ++i) {
    EXPECT_NEAR(both[i], real(0.7) * one[i] + real(1.3) * other[i], 1e-6);
    most = std::max(most, std::abs(static_cast<double>(both[i])));
  }
  EXPECT_GT(most, 0.01);
}

TEST(Ops, WrongUseIsAnError) {
  Weight table{.name = "table", .shape = {3, 2}};
  Parameters parameters([&](const WeightVisitor& visitor) { visitor(table); });
  limpid::Run run({});
  const std::vector<int32_t> bad = {0, 3}, negative = {-1}, good = {0, 1};
  EXPECT_THROW(embedding(run, table, bad), Error);
  EXPECT_THROW(embedding(run, table, negative), Error);
  const Tensor x = embedding(run, table, good);
  EXPECT_THROW(cross_entropy(run, x, table, nullptr, bad, {}), Error);
  EXPECT_THROW(add(run, x, x.columns(0, 1)), Error);
  EXPECT_THROW(x.columns(1, 2), Error);
  const Weight* weights[] = {&table};
  EXPECT_THROW(linear(run, x.columns(0, 1), weights, {}), Error);
}

}  // namespace
}  // namespace limpid
