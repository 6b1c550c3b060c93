#include "inference/embedding.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference/decoder_state.h"
#include "inference/model_text.h"
#include "models/encoder.h"
#include "models/language_model.h"
#include "models/rnn_seq2seq.h"
#include "models/seq2seq.h"

namespace limpid {
namespace {

using Vectors = std::vector<std::vector<real>>;

// Gathers vectors of tokens into one for each text.
class Pool {
 public:
  // `chosen`: of each text the token that Pooling::token takes.
  Pool(Pooling pooling, int64_t left_out, std::vector<int64_t> chosen)
      : pooling_(pooling),
        left_out_(pooling == Pooling::first || pooling == Pooling::token ? 0 : left_out),
        chosen_(std::move(chosen)),
        sums_(chosen_.size()),
        counts_(chosen_.size()),
        weights_(chosen_.size()) {}

  // The next vector of a text, in the order of its tokens.
  void add(int64_t text, const real* vector, int64_t size) {
    std::vector<double>& sum = sums_[text];
    const int64_t token = counts_[text]++;
    if (token < left_out_ || (pooling_ == Pooling::token && token != chosen_[text])) return;
    const double weight = pooling_ == Pooling::weighted ? static_cast<double>(token + 1) : 1;
    weights_[text] += weight;
    const bool sums = pooling_ == Pooling::mean || pooling_ == Pooling::root_mean || pooling_ == Pooling::weighted;
    if (sum.empty() || pooling_ == Pooling::last) {
      sum.assign(vector, vector + size);
      for (double& x : sum) x *= weight;
    } else if (pooling_ == Pooling::largest) {
      for (int64_t i = 0; i < size; ++i) sum[i] = std::max(sum[i], static_cast<double>(vector[i]));
    } else if (sums) {
      for (int64_t i = 0; i < size; ++i) sum[i] += weight * static_cast<double>(vector[i]);
    }
  }
  void add(int64_t text, ConstMatrix rows) {
    for (int64_t i = 0; i < rows.rows; ++i) add(text, rows.row(i), rows.cols);
  }
  bool empty() const { return counts_[0] == 0; }

  std::vector<double> vector(size_t text) const {
    std::vector<double> result = sums_[text];
    const double weight = weights_[text];
    for (double& x : result) {
      if (pooling_ == Pooling::mean || pooling_ == Pooling::weighted) x /= weight;
      if (pooling_ == Pooling::root_mean) x /= std::sqrt(weight);
    }
    return result;
  }

 private:
  Pooling pooling_;
  int64_t left_out_;
  std::vector<int64_t> chosen_;
  std::vector<std::vector<double>> sums_;
  std::vector<int64_t> counts_;
  std::vector<double> weights_;  // of what was added up
};

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::tanh: return std::tanh(x);
    case Activation::relu: return std::max(x, 0.0);
    case Activation::gelu: return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    default: return x;
  }
}

std::vector<double> through(const DenseLayer& layer, const std::vector<double>& x) {
  check(static_cast<int64_t>(x.size()) == layer.inputs, "[embed] a dense layer takes {} numbers, given {}",
        layer.inputs, x.size());
  std::vector<double> y(layer.outputs);
  for (int64_t o = 0; o < layer.outputs; ++o) {
    y[o] = layer.bias.empty() ? 0.0 : static_cast<double>(layer.bias[o]);
    for (int64_t i = 0; i < layer.inputs; ++i) y[o] += static_cast<double>(layer.weight[o * layer.inputs + i]) * x[i];
    y[o] = activated(layer.activation, y[o]);
  }
  return y;
}

Vectors vectors_of(const std::vector<Pool>& pools, size_t texts, const EmbeddingOptions& options) {
  Vectors result;
  for (size_t text = 0; text < texts; ++text) {
    std::vector<double> vector;
    for (const Pool& pool : pools) {
      const std::vector<double> part = pool.vector(text);
      check(!part.empty(), "[embed] text {} has no token beside those of the prompt: leave it out", text + 1);
      vector.insert(vector.end(), part.begin(), part.end());
    }
    for (const DenseLayer& layer : options.dense) vector = through(layer, vector);
    const double length = std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
    check(std::isfinite(length), "[embed] the model's vectors are not numbers: it has diverged or is damaged");
    const double factor = options.normalize && length > 0 ? 1 / length : 1;
    auto& numbers = result.emplace_back();
    for (const double x : vector) numbers.push_back(static_cast<real>(x * factor));
  }
  return result;
}

void add_sequences(std::vector<Pool>& pools, ConstMatrix values, const Sequences& sequences) {
  for (Pool& pool : pools)
    for (int64_t i = 0; i < sequences.count(); ++i)
      pool.add(i, values.rows_from(sequences.begin(i), sequences.length(i)));
}

// Reads the texts; the last vectors where the family has them for every token.
Tensor read(Run& run, const Model& model, const Tokens& tokens) {
  Batch batch;
  batch.input = tokens;
  if (const auto* encoder = dynamic_cast<const Encoder*>(&model)) {
    if (run.observed() && !model.config().labels.empty())  // its head is worth watching: one row per text
      return model.forward(run, batch, TokenChoice::first_of_each(tokens.sequences));
    return encoder->encode(run, tokens);
  }
  if (const auto* seq2seq = dynamic_cast<const Seq2Seq*>(&model)) return seq2seq->encode(run, tokens);
  if (const auto* rnn = dynamic_cast<const RnnSeq2Seq*>(&model)) {
    std::vector<int32_t> order(tokens.sequences.count());
    std::iota(order.begin(), order.end(), 0);
    rnn->encode(run, tokens, order);
    return {};
  }
  return model.forward(run, batch, TokenChoice::all());
}

Vectors embed_part(const Model& model, std::span<const std::vector<int32_t>> texts, const EmbeddingOptions& options,
                   const std::string& name) {
  const Tokens tokens = Tokens::of({texts.begin(), texts.end()});
  std::vector<int64_t> chosen;
  for (const auto& text : texts) chosen.push_back(options.token < 0 ? std::ssize(text) + options.token : options.token);
  std::vector<Pool> pools = {Pool(options.pooling, options.left_out, chosen)};
  for (const Pooling further : options.further) pools.emplace_back(further, options.left_out, chosen);
  FunctionProbe probe;
  if (!name.empty())
    probe.on(name, [&](const Tap& tap) {
      check(tap.layout.keys == nullptr && tap.layout.rows != nullptr,
            "[embed] \"{}\" has no row for every token: take one that has, such as \"{}\"", name,
            [&] { return layer_tap(model.config(), 0); });
      const Sequences& rows = *tap.layout.rows;
      if (!tap.layout.order) return add_sequences(pools, tap.value.values(), rows);
      for (Pool& pool : pools)
        for (int64_t i = 0; i < rows.count(); ++i)  // one step of a recurrent model
          pool.add((*tap.layout.order)[i], tap.value.values().rows_from(rows.begin(i), rows.length(i)));
    });
  const Arena arena;
  Run run({.arena = arena, .probe = name.empty() ? nullptr : &probe});
  const Tensor last = read(run, model, tokens);
  if (name.empty()) add_sequences(pools, last.values(), tokens.sequences);
  check(!pools[0].empty(),
        "[embed] no value passes a tap \"{}\" while this model reads a text: docs/taps.md lists them", name);
  return vectors_of(pools, texts.size(), options);
}

}  // namespace

std::string layer_tap(const Config& config, int64_t layer) {
  const bool recurrent = config.recurrent(), two = config.cross_attention();
  const int64_t layers = recurrent ? config.rnn.layers : two ? config.encoder.layers : config.stack().layers;
  check(layer >= 0 && layer < layers, "[embed] there is no layer {}: the model has 0 to {}", layer, layers - 1);
  if (recurrent) return fmt::format("encoder.{}.h", layer);
  return fmt::format("{}.{}.resid_post", two ? "encoder" : "blocks", layer);
}

std::vector<std::vector<real>> embed(const Model& model, std::span<const std::vector<int32_t>> texts,
                                     const EmbeddingOptions& options) {
  const Config& config = model.config();
  for (size_t i = 0; i < texts.size(); ++i) check_text(config, texts[i], i + 1);
  for (size_t i = 0; options.pooling == Pooling::token && i < texts.size(); ++i)
    check(options.token < std::ssize(texts[i]) && options.token >= -std::ssize(texts[i]),
          "[embed] text {} has {} tokens and no token {}: count from 0, or from -1 at the end", i + 1, texts[i].size(),
          options.token);
  check(options.tap.find('*') == std::string::npos, "[embed] \"{}\" names several values: name one", options.tap);
  // A recurrent encoder hands on its states as the decoder wants them; its last layer's are taken from their tap.
  const bool recurrent = config.recurrent();
  const std::string tap = options.tap.empty() && recurrent ? layer_tap(config, config.rnn.layers - 1) : options.tap;
  Vectors result;
  for (size_t begin = 0; begin < texts.size();) {
    size_t end = begin;
    int64_t tokens = 0;
    do {
      tokens += static_cast<int64_t>(texts[end].size());
      ++end;
    } while (end < texts.size() && tokens + static_cast<int64_t>(texts[end].size()) <= options.max_batch_tokens);
    for (auto& vector : embed_part(model, texts.subspan(begin, end - begin), options, tap))
      result.push_back(std::move(vector));
    begin = end;
  }
  return result;
}

}  // namespace limpid
