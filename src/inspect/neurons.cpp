#include "inspect/neurons.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "inspect/tap_rows.h"

namespace limpid {
namespace {

std::vector<WeightedToken> strongest(std::span<const real> values, int64_t count, bool largest) {
  std::vector<int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto kept = std::min<ptrdiff_t>(count, static_cast<ptrdiff_t>(values.size()));
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), [&](int32_t a, int32_t b) {
    if (values[a] == values[b]) return a < b;
    return largest ? values[a] > values[b] : values[a] < values[b];
  });
  std::vector<WeightedToken> tokens;
  for (ptrdiff_t i = 0; i < kept; ++i) tokens.push_back({order[i], static_cast<double>(values[order[i]])});
  return tokens;
}

// A direction of the stream as the narrower output layer reads it.
std::vector<double> narrowed(const Projection& projection, const std::vector<double>& direction) {
  std::vector<double> narrow(projection.outputs);
  for (int64_t o = 0; o < projection.outputs; ++o)
    for (int64_t i = 0; i < projection.inputs; ++i)
      narrow[o] += static_cast<double>(projection.row(o)[i]) * direction[i];
  return narrow;
}

int64_t checked_block(const Model& model, const std::string& side, int64_t block) {
  const Config& config = model.config();
  check(!config.recurrent() && config.feed_forward,
        "[look] this model has no feed-forward networks, so it has no neurons to read");
  check(config.experts.count == 0,
        "[look] each token takes other feed-forward networks of this model: their neurons are not read one by one");
  const int64_t layers = stack_config(config, side).layers;
  check(block >= 0 && block < layers, "[look] there is no block {}: the stack has {}, 0 … {}", block, layers,
        layers - 1);
  return block;
}

// The norm that a block's feed-forward network reads through: its own, the block's one norm, or what the sub-layer
// before it left behind (post-norm).
std::string read_norm_name(const Config& config, const BlockNames& names, bool cross) {
  if (config.norm_place == NormPlace::after) return cross ? names.norm_cross : names.norm_self;
  return config.parallel && config.parallel_one_norm ? names.norm_self : names.norm_ffn;
}

}  // namespace

DirectionReader::DirectionReader(const Model& model, const std::string& side, int64_t block) {
  const Config& config = model.config();
  const WeightTable weights(model);
  const bool encoder = config.cross_attention() && side == "encoder";
  if (!config.recurrent()) {
    const StackNames& stack = stack_names(config, side);
    const BlockNames names = stack.of(block);
    const bool after = config.norm_place == NormPlace::after;
    // The norm that closes the block: attention's where there is no feed-forward network.
    const std::string last = config.feed_forward                    ? names.norm_ffn
                             : config.cross_attention() && !encoder ? names.norm_cross
                                                                    : names.norm_self;
    has_norm_ = after || config.final_norm;
    if (has_norm_) norm_ = weights.norm(after ? last : stack.final_norm, config.norm_options(), config.width);
  }
  const bool no_output = encoder || !config.labels.empty() || !config.has_output();
  unembedding_ = no_output ? embedding_table(weights, config, side) : model.output().weight();
  width_ = unembedding_.shape[1];
  if (config.embed_width > 0 && width_ != config.width) {
    narrowing_ = weights.projection(names_of(config).project_out, WeightLayout::out_in);
    width_ = config.width;
  }
}

std::vector<SaidTokens> DirectionReader::read(const std::vector<std::vector<double>>& directions,
                                              int64_t tokens) const {
  RowsOfReals seen(std::ssize(directions), narrowing_ ? narrowing_->outputs : width_);
  for (size_t d = 0; d < directions.size(); ++d) {
    std::vector<double> direction = directions[d];
    check(std::ssize(direction) == width_, "[look] a direction of {} numbers in a stream of {}", direction.size(),
          width_);
    const bool centred = has_norm_ && norm_.kind == NormKind::layer;
    const double middle =
        centred ? std::accumulate(direction.begin(), direction.end(), 0.0) / static_cast<double>(width_) : 0;
    for (int64_t j = 0; j < width_; ++j) direction[j] = (direction[j] - middle) * (has_norm_ ? norm_.gain[j] : 1);
    seen.set(static_cast<int64_t>(d), narrowing_ ? narrowed(*narrowing_, direction) : direction);
  }
  const RowsOfReals says = products_with_rows(seen, unembedding_);
  std::vector<SaidTokens> all(directions.size());
  parallel_for(std::ssize(all), [&](int64_t d) {
    all[static_cast<size_t>(d)] = {strongest(says.row(d), tokens, true), strongest(says.row(d), tokens, false)};
  });
  return all;
}

SaidTokens DirectionReader::read(const std::vector<double>& direction, int64_t tokens) const {
  return read(std::vector<std::vector<double>>{direction}, tokens)[0];
}

NeuronReader::NeuronReader(const Model& model, const std::string& side, int64_t block)
    : model_(model), block_(block), direction_(model, side, checked_block(model, side, block)) {
  const Config& config = model.config();
  const WeightTable weights(model);
  const StackNames& stack = stack_names(config, side);
  const BlockNames names = stack.of(block);
  const bool cross = config.cross_attention() && side != "encoder";
  tap_ = fmt::format("{}.{}.ffn.post", stack_scope(config, side), block);
  question_ = weights.projection(config.fused_gate ? names.ffn.gate_up
                                 : config.gated    ? names.ffn.gate
                                                   : names.ffn.up,
                                 config.layout);
  if (config.fused_gate) question_.outputs /= 2;  // the gate stands first
  down_ = weights.projection(names.ffn.down, config.layout);
  if (config.norm_place == NormPlace::output)
    read_norm_ = {.kind = NormKind::rms,  // it reads the stream as it is: compared by length alone
                  .gain = std::vector<double>(config.width, 1),
                  .bias = std::vector<double>(config.width, 0)};
  else
    read_norm_ = weights.norm(read_norm_name(config, names, cross), config.norm_options(), config.width);
  embedding_ = embedding_table(weights, config, side);
  if (config.embed_width > 0 && embedding_.shape[1] != config.width)
    widening_ = weights.projection(names_of(config).project_in, WeightLayout::out_in);
}

std::vector<double> NeuronReader::column(int64_t neuron) const {
  std::vector<double> values(down_.outputs);
  for (int64_t i = 0; i < down_.outputs; ++i) values[i] = static_cast<double>(down_.row(i)[neuron]);
  return values;
}

// asks[v] = question·norm(embedding of v): the question is carried back through the norm, so that one product with the
// table and one scale per token give them all.
RowsOfReals NeuronReader::asked_of_tokens(std::span<const int64_t> neurons) const {
  NormWeights norm = read_norm_;
  std::fill(norm.bias.begin(), norm.bias.end(), 0.0);  // the same for all tokens
  RowsOfReals questions(std::ssize(neurons), question_.inputs);
  std::vector<double> constants;
  for (size_t i = 0; i < neurons.size(); ++i) {
    const std::vector<double> question(question_.row(neurons[i]), question_.row(neurons[i]) + question_.inputs);
    questions.set(static_cast<int64_t>(i), norm.backward(question, 1));
    constants.push_back(norm.constant(question));
  }
  RowsOfReals asks = products_with_rows(
      questions, embedding_, widening_ ? &*widening_ : nullptr, [&](int64_t token, ConstMatrix rows, Matrix products) {
        for (int64_t v = 0; v < rows.rows; ++v) {
          const double scale = norm.kind == NormKind::batch ? 1 : norm.scale_of(rows.row(v), rows.cols, 1e-12);
          for (int64_t i = 0; i < products.rows; ++i) {
            real& x = products(i, token + v);
            x = static_cast<real>(static_cast<double>(x) / scale + constants[i]);
          }
        }
      });
  return asks;
}

std::vector<NeuronReading> NeuronReader::read(std::span<const int64_t> neurons, int64_t tokens) const {
  std::vector<std::vector<double>> answers;
  for (const int64_t neuron : neurons) {
    check(neuron >= 0 && neuron < count(), "[look] there is no neuron {}: the block has {}, 0 … {}", neuron, count(),
          count() - 1);
    answers.push_back(column(neuron));
  }
  const RowsOfReals asks = asked_of_tokens(neurons);
  std::vector<SaidTokens> said = direction_.read(answers, tokens);
  std::vector<NeuronReading> readings;
  for (size_t i = 0; i < neurons.size(); ++i) {
    const std::vector<double> question(question_.row(neurons[i]), question_.row(neurons[i]) + question_.inputs);
    readings.push_back({.block = block_,
                        .neuron = neurons[i],
                        .asked = strongest(asks.row(static_cast<int64_t>(i)), tokens, true),
                        .promoted = std::move(said[i].promoted),
                        .demoted = std::move(said[i].demoted),
                        .question_length = length(question),
                        .answer_length = length(answers[i])});
  }
  return readings;
}

NeuronReading NeuronReader::read(int64_t neuron, int64_t tokens) const {
  return read(std::span(&neuron, 1), tokens)[0];
}

std::vector<double> NeuronReader::written(std::span<const real> activations) const {
  check(static_cast<int64_t>(activations.size()) == count(), "[look] {} activations of {} neurons", activations.size(),
        count());
  std::vector<double> sum(down_.outputs);
  for (int64_t o = 0; o < down_.outputs; ++o)
    for (int64_t i = 0; i < count(); ++i)
      sum[o] += static_cast<double>(down_.row(o)[i]) * static_cast<double>(activations[i]);
  return sum;
}

std::vector<FiredNeuron> NeuronReader::fired(const Example& example, int64_t position, int64_t wanted) const {
  const TapValues values = tap_values(model_, example, {tap_}).at(tap_);
  const int64_t row = position < 0 ? position + values.positions : position;
  check(row >= 0 && row < values.positions, "[look] there is no position {}: the text has {} tokens", position,
        values.positions);
  const std::vector<double> post(values.row(row), values.row(row) + values.cols);
  std::vector<double> squares(count());
  for (int64_t o = 0; o < down_.outputs; ++o)
    for (int64_t i = 0; i < count(); ++i) {
      const auto weight = static_cast<double>(down_.row(o)[i]);
      squares[i] += weight * weight;
    }
  std::vector<FiredNeuron> all;
  for (int64_t i = 0; i < count(); ++i) all.push_back({i, post[i], std::abs(post[i]) * std::sqrt(squares[i])});
  const auto kept = std::min<ptrdiff_t>(wanted, static_cast<ptrdiff_t>(all.size()));
  std::partial_sort(all.begin(), all.begin() + kept, all.end(), [](const FiredNeuron& a, const FiredNeuron& b) {
    return a.written != b.written ? a.written > b.written : a.neuron < b.neuron;
  });
  all.resize(static_cast<size_t>(kept));
  return all;
}

}  // namespace limpid
