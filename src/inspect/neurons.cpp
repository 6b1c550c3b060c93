#include "inspect/neurons.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "inspect/tap_record.h"

namespace limpid {
namespace {

std::vector<WeightedToken> strongest(const std::vector<double>& values, int64_t count, bool largest) {
  std::vector<int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto kept = std::min<ptrdiff_t>(count, static_cast<ptrdiff_t>(values.size()));
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), [&](int32_t a, int32_t b) {
    if (values[a] == values[b]) return a < b;
    return largest ? values[a] > values[b] : values[a] < values[b];
  });
  std::vector<WeightedToken> tokens;
  for (ptrdiff_t i = 0; i < kept; ++i) tokens.push_back({order[i], values[order[i]]});
  return tokens;
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

// Rows of a table of token vectors as they stand in the stream: projected, where they are narrower.
std::vector<real> in_stream(const WeightTable& weights, const Config& config, const Weight& table) {
  std::vector<real> narrow = numbers_of(table);
  const int64_t rows = table.shape[0], cols = table.shape[1];
  if (cols == config.width || config.embed_width == 0) return narrow;
  const Projection in = weights.projection(names_of(config).project_in, WeightLayout::out_in);
  std::vector<real> wide(rows * config.width);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < config.width; ++o)
      for (int64_t i = 0; i < cols; ++i) wide[r * config.width + o] += narrow[r * cols + i] * in.row(o)[i];
  return wide;
}

// Rows of an output matrix as directions of the stream, likewise.
std::vector<real> out_of_stream(const WeightTable& weights, const Config& config, const Weight& table) {
  std::vector<real> narrow = numbers_of(table);
  const int64_t rows = table.shape[0], cols = table.shape[1];
  if (cols == config.width || config.embed_width == 0) return narrow;
  const Projection out = weights.projection(names_of(config).project_out, WeightLayout::out_in);
  std::vector<real> wide(rows * config.width);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < cols; ++o)
      for (int64_t i = 0; i < config.width; ++i) wide[r * config.width + i] += narrow[r * cols + o] * out.row(o)[i];
  return wide;
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
  const Weight& table = no_output ? embedding_table(weights, config, side) : model.output().weight();
  unembedding_ = out_of_stream(weights, config, table);
  vocab_ = table.shape[0];
  width_ = static_cast<int64_t>(unembedding_.size()) / vocab_;
}

SaidTokens DirectionReader::read(const std::vector<double>& direction, int64_t tokens) const {
  check(static_cast<int64_t>(direction.size()) == width_, "[look] a direction of {} numbers in a stream of {}",
        direction.size(), width_);
  const double middle = has_norm_ && norm_.kind == NormKind::layer
                            ? std::accumulate(direction.begin(), direction.end(), 0.0) / static_cast<double>(width_)
                            : 0;
  std::vector<double> seen(width_), says(vocab_);
  for (int64_t j = 0; j < width_; ++j) seen[j] = (direction[j] - middle) * (has_norm_ ? norm_.gain[j] : 1);
  for (int64_t v = 0; v < vocab_; ++v)
    for (int64_t j = 0; j < width_; ++j) says[v] += seen[j] * static_cast<double>(unembedding_[v * width_ + j]);
  return {strongest(says, tokens, true), strongest(says, tokens, false)};
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
  const Weight& embedding = embedding_table(weights, config, side);
  embedding_ = in_stream(weights, config, embedding);
  vocab_ = embedding.shape[0];
  width_ = static_cast<int64_t>(embedding_.size()) / vocab_;
}

std::vector<double> NeuronReader::column(int64_t neuron) const {
  std::vector<double> values(down_.outputs);
  for (int64_t i = 0; i < down_.outputs; ++i) values[i] = static_cast<double>(down_.row(i)[neuron]);
  return values;
}

NeuronReading NeuronReader::read(int64_t neuron, int64_t tokens) const {
  check(neuron >= 0 && neuron < count(), "[look] there is no neuron {}: the block has {}, 0 … {}", neuron, count(),
        count() - 1);
  const std::vector<double> question(question_.row(neuron), question_.row(neuron) + width_);
  const std::vector<double> answer = column(neuron);
  NeuronReading reading{
      .block = block_, .neuron = neuron, .question_length = length(question), .answer_length = length(answer)};
  NormWeights norm = read_norm_;
  std::fill(norm.bias.begin(), norm.bias.end(), 0.0);  // the same for all tokens
  std::vector<double> asks(vocab_);
  for (int64_t v = 0; v < vocab_; ++v) {
    const std::vector<double> x(embedding_.begin() + v * width_, embedding_.begin() + (v + 1) * width_);
    const std::vector<double> seen = norm.apply(x, norm.scale_of(x, 1e-12));
    asks[v] = dot(question.data(), seen.data(), width_);
  }
  reading.asked = strongest(asks, tokens, true);
  SaidTokens said = direction_.read(answer, tokens);
  reading.promoted = std::move(said.promoted);
  reading.demoted = std::move(said.demoted);
  return reading;
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
  const TapRecord record = record_taps(model_, example, {tap_});
  const TapRecord::Rows& rows = record.at(tap_);
  const int64_t row = position < 0 ? position + rows.rows() : position;
  check(row >= 0 && row < rows.rows(), "[look] there is no position {}: the text has {} tokens", position, rows.rows());
  const std::vector<double> post = rows.row(row);
  std::vector<FiredNeuron> all;
  for (int64_t i = 0; i < count(); ++i) {
    double square = 0;
    for (int64_t o = 0; o < down_.outputs; ++o) {
      const auto weight = static_cast<double>(down_.row(o)[i]);
      square += weight * weight;
    }
    all.push_back({i, post[i], std::abs(post[i]) * std::sqrt(square)});
  }
  const auto kept = std::min<ptrdiff_t>(wanted, static_cast<ptrdiff_t>(all.size()));
  std::partial_sort(all.begin(), all.begin() + kept, all.end(), [](const FiredNeuron& a, const FiredNeuron& b) {
    return a.written != b.written ? a.written > b.written : a.neuron < b.neuron;
  });
  all.resize(static_cast<size_t>(kept));
  return all;
}

}  // namespace limpid
