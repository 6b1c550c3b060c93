#include "app/train_step_bench.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "app/measuring.h"
#include "app/peak_memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "kernels/instruction_set.h"
#include "models/model.h"
#include "training/optimizer.h"

namespace limpid {
namespace {

struct Shape {
  bool two_stacks;
  int64_t layers, width, ffn, heads, vocab, sequences, length;
  double dropout, smoothing;
};

const std::map<std::string, Shape> kShapes = {
    {"tiny", {true, 4, 128, 256, 4, 10000, 256, 16, 0.1, 0.1}},
    {"base", {true, 6, 512, 2048, 8, 32000, 64, 32, 0.1, 0.1}},
    {"char", {false, 6, 384, 1536, 6, 65, 8, 256, 0.1, 0.1}},
    {"gpt2", {false, 12, 768, 3072, 12, 50257, 4, 64, 0, 0}},
};

nlohmann::ordered_json config_of(const Shape& s, double dropout) {
  if (s.two_stacks)
    return {{"model_type", "marian"},
            {"vocab_size", s.vocab},
            {"d_model", s.width},
            {"encoder_layers", s.layers},
            {"decoder_layers", s.layers},
            {"encoder_attention_heads", s.heads},
            {"decoder_attention_heads", s.heads},
            {"encoder_ffn_dim", s.ffn},
            {"decoder_ffn_dim", s.ffn},
            {"activation_function", "relu"},
            {"scale_embedding", true},
            {"max_position_embeddings", 512},
            {"dropout", dropout},
            {"attention_dropout", dropout},
            {"activation_dropout", dropout},
            {"pad_token_id", 0},
            {"eos_token_id", 0},
            {"decoder_start_token_id", 0}};
  return {{"model_type", "gpt2"},
          {"vocab_size", s.vocab},
          {"n_embd", s.width},
          {"n_inner", s.ffn},
          {"n_layer", s.layers},
          {"n_head", s.heads},
          {"n_positions", s.vocab > 1000 ? 1024 : s.length},
          {"activation_function", "gelu"},
          {"embd_pdrop", dropout},
          {"attn_pdrop", dropout},
          {"resid_pdrop", dropout},
          {"bos_token_id", 0},
          {"eos_token_id", 0}};
}

double arithmetic(const Shape& s) {
  const double tokens = static_cast<double>(s.sequences * s.length), d = static_cast<double>(s.width);
  const double pairs = tokens * static_cast<double>(s.length), f = static_cast<double>(s.ffn),
               layers = static_cast<double>(s.layers);
  const double vocabulary = tokens * 2 * d * static_cast<double>(s.vocab);
  if (s.two_stacks)
    return 3 * (tokens * layers * 2 * (12 * d * d + 4 * d * f) + vocabulary + 3 * layers * 4 * pairs * d);
  return 3 * (tokens * layers * 2 * (4 * d * d + 2 * d * f) + vocabulary + layers * 4 * pairs * d);
}

// What all threads reach together, best of a few.
double measure_peak() {
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    double sum = 0;
    std::mutex mutex;
    parallel_for(threads(), [&](int64_t) {
      const double mine = kernels::fma_peak_gflops(0.05);
      std::lock_guard lock(mutex);
      sum += mine;
    });
    best = std::max(best, sum);
  }
  return best;
}

Batch batch_of(const Shape& s, const std::vector<TokenExample>& examples) {
  std::vector<std::vector<int32_t>> first, second;
  for (const TokenExample& example : examples) {
    first.push_back(example.first);
    second.push_back(example.second);
  }
  return s.two_stacks ? Batch::pairs(first, second, 0) : Batch::next_tokens(first);
}

}  // namespace

nlohmann::ordered_json train_step_config(const std::string& shape, bool dropout) {
  const Shape& s = kShapes.at(shape);
  return config_of(s, dropout ? s.dropout : 0);
}

std::vector<TokenExample> train_step_examples(const std::string& shape) {
  const Shape& s = kShapes.at(shape);
  Random random(1);
  std::vector<TokenExample> examples(s.sequences);
  const auto fill = [&](std::vector<int32_t> TokenExample::*side, int64_t length) {
    for (TokenExample& example : examples) {
      (example.*side).resize(length);
      for (int32_t& id : example.*side) id = static_cast<int32_t>(random.below(s.vocab));
    }
  };
  fill(&TokenExample::first, s.two_stacks ? s.length : s.length + 1);
  if (s.two_stacks) fill(&TokenExample::second, s.length);
  return examples;
}

std::vector<std::string> train_step_shapes() {
  std::vector<std::string> names;
  for (const auto& [name, shape] : kShapes) names.push_back(name);
  return names;
}

nlohmann::ordered_json bench_train_step(const TrainStepOptions& options) {
  const Shape& shape = kShapes.at(options.shape);
  const Config config = parse_config(config_of(shape, options.dropout ? shape.dropout : 0));
  const auto model = make_model(config);
  Parameters parameters([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); });
  parameters.initialize(1);
  Gradients gradients(parameters);
  Optimizer optimizer(parameters, {.beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9});
  const Batch batch = batch_of(shape, train_step_examples(options.shape));
  const Arena arena;
  uint64_t step = 0;
  const double best = best_seconds(options.steps, [&] {
    gradients.clear();
    Tape tape(arena, &gradients);
    Run run({.arena = arena, .tape = &tape, .train = true, .seed = 1, .step = step++});
    model->loss(run, batch, {.smoothing = static_cast<real>(shape.smoothing)});
    tape.backward();
    optimizer.step(parameters, gradients, 1e-4);
  });
  const double rss = peak_memory_mb(), peak = measure_peak(), gflop = arithmetic(shape) / 1e9;
  return {{"bench", "train-step"},
          {"shape", options.shape},
          {"threads", threads()},
          {"parameters", parameters.trainable_size()},
          {"dropout", options.dropout ? shape.dropout : 0},
          {"seconds", rounded(best, 1e4)},
          {"tokens_per_second", std::round(static_cast<double>(shape.sequences * shape.length) / best)},
          {"gflop", rounded(gflop, 10)},
          {"gflops", rounded(gflop / best, 10)},
          {"fma_peak_gflops", rounded(peak, 10)},
          {"of_peak", rounded(gflop / best / peak, 1000)},
          {"rss_mb", std::round(rss)}};
}

}  // namespace limpid
