#include "inspect/lens.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "autograd/ops.h"
#include "base/parallel.h"
#include "inspect/tap_rows.h"
#include "inspect/weights.h"
#include "kernels/top_numbers.h"

namespace limpid {
namespace {

// Numbers: the scores of a few layers lie in memory that the next few use again.
constexpr int64_t kLogitsAtOnce = 4 << 20;

// Whether the output layer of a recurrent model reads more than the state.
bool reads_context(const Config& config) { return config.recurrent() && config.rnn.context != ContextUse::initial; }

std::vector<std::string> lens_taps(const Config& config) {
  std::vector<std::string> taps = lens_layers(config);
  if (reads_context(config)) taps.insert(taps.end(), {"context", "decoder.embed"});
  return taps;
}

// From a layer's vectors to logits, by the same operations as the model's own.
class Unembedding {
 public:
  Unembedding(const Model& model, const Example& example)
      : model_(model), config_(model.config()), seen_(tap_values(model, example, lens_taps(model.config()))) {
    check(config_.has_output(), "[look] this model ends in vectors: it has no words to read its layers as");
  }

  // Of so many positions in each of some layers, one layer behind the other: what they are multiplied with is the
  // largest matrix of many models, and is read once for all of them.
  Tensor logits(std::span<const std::string> layers, int64_t first, int64_t count) const {
    Run run({.arena = arena_});
    const auto rows_of = [&](std::span<const std::string> taps) {
      std::vector<real> numbers;
      for (const std::string& tap : taps)
        numbers.insert(numbers.end(), seen_.at(tap).row(first), seen_.at(tap).row(first + count));
      return constant(run, ConstMatrix(numbers.data(), std::ssize(taps) * count, seen_.at(taps[0]).cols));
    };
    Tensor x = rows_of(layers);
    if (reads_context(config_)) {
      const std::vector<std::string> contexts(layers.size(), "context"), embedded(layers.size(), "decoder.embed");
      const Tensor parts[] = {x, rows_of(contexts), rows_of(embedded)};
      x = concatenate_columns(run, parts);
    }
    const Sequences rows(std::vector<int64_t>(layers.size(), count));
    x = model_.finish(run, x, rows);
    return model_.output().logits(run, x, rows);
  }

 private:
  const Model& model_;
  const Config& config_;
  const std::map<std::string, TapValues> seen_;
  const Arena arena_;
};

LensCell read_cell(const real* logits, int64_t count, int64_t top, int32_t watched) {
  const std::span<const real> row(logits, static_cast<size_t>(count));
  std::vector<kernels::RankedNumber> best(static_cast<size_t>(std::clamp<int64_t>(top, 1, count)));
  const kernels::SumOfExponentials sum = kernels::top_numbers_and_sum(row, best);
  const auto probability = [&](int64_t i) {
    return std::exp(static_cast<double>(logits[i]) - static_cast<double>(sum.max)) / static_cast<double>(sum.sum);
  };
  LensCell cell{.watched = watched, .entropy = static_cast<double>(kernels::entropy_of_scores(row)) / std::log(2.0)};
  for (const kernels::RankedNumber& one : best) cell.top.push_back({one.place, probability(one.place)});
  if (watched >= 0) {
    cell.rank = 1 + std::count_if(logits, logits + count, [&](real x) { return x > logits[watched]; });
    cell.probability = probability(watched);
    cell.logit = static_cast<double>(logits[watched]);
  }
  return cell;
}

}  // namespace

std::vector<std::string> lens_layers(const Config& config) {
  std::vector<std::string> layers;
  if (config.recurrent()) {
    for (int64_t i = 0; i < config.rnn.layers; ++i) layers.push_back(fmt::format("decoder.{}.h", i));
    return layers;
  }
  const std::string scope = stack_scope(config);
  layers.push_back(scope + ".0.resid_pre");
  for (int64_t i = 0; i < stack_config(config).layers; ++i) layers.push_back(fmt::format("{}.{}.resid_post", scope, i));
  return layers;
}

Tensor lens_logits(const Model& model, const Example& example, const std::string& layer) {
  return Unembedding(model, example).logits(std::span(&layer, 1), 0, example.positions());
}

LensTable logit_lens(const Model& model, const Example& example, const LensOptions& options) {
  const Unembedding unembedding(model, example);
  const int64_t last = options.last < 0 ? example.positions() - 1 : options.last;
  check(options.first >= 0 && options.first <= last && last < example.positions(),
        "[look] there are no positions {} … {}: the text has {} tokens", options.first, last, example.positions());
  LensTable table{.layers = lens_layers(model.config()), .first = options.first, .positions = last + 1 - options.first};
  const int64_t count = table.positions, vocab = model.config().vocab;
  const auto at_once = static_cast<size_t>(std::max<int64_t>(1, kLogitsAtOnce / std::max<int64_t>(1, count * vocab)));
  for (size_t begin = 0; begin < table.layers.size(); begin += at_once) {
    const size_t layers = std::min(at_once, table.layers.size() - begin);
    const Tensor logits = unembedding.logits(std::span(table.layers).subspan(begin, layers), table.first, count);
    check(options.watched < logits.cols(), "[look] there is no token {}: the model chooses among {}", options.watched,
          logits.cols());
    const size_t done = table.cells.size();
    table.cells.resize(done + static_cast<size_t>(logits.rows()));
    parallel_for(logits.rows(), [&](int64_t i) {
      const int32_t watched = options.watched >= 0 ? options.watched : example.next[table.first + i % count];
      table.cells[done + static_cast<size_t>(i)] =
          read_cell(logits.values().row(i), logits.cols(), options.top, watched);
    });
  }
  return table;
}

}  // namespace limpid
