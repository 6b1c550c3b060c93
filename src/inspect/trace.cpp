#include "inspect/trace.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "base/error.h"
#include "base/random.h"
#include "inspect/effect.h"
#include "inspect/tap_rows.h"
#include "inspect/weights.h"

namespace limpid {
namespace {

constexpr int64_t kTokensAtOnce = 1024;  // of a batch of corrupted runs

std::string embed_tap(const Config& config, const std::string& side) {
  const bool two = config.has_source();
  return two ? stack_scope(config, side) + ".embed" : "embed";
}

int64_t layer_count(const Config& config, const std::string& side) {
  return config.recurrent() ? config.rnn.layers : stack_config(config, side).layers;
}

double deviation_of(const Weight& weight) {
  const std::vector<real> numbers = numbers_of(weight);
  double sum = 0, square = 0;
  for (real x : numbers) {
    sum += static_cast<double>(x);
    square += static_cast<double>(x) * static_cast<double>(x);
  }
  const auto count = static_cast<double>(numbers.size());
  return std::sqrt(std::max(0.0, square / count - sum / count * sum / count));
}

Tokens repeated(const Tokens& tokens, int64_t copies) {
  return Tokens::of(std::vector<std::vector<int32_t>>(static_cast<size_t>(copies), tokens.ids));
}

// Runs copies of the corrupted text, each with one position restored in the layers of a window.
class Tracer {
 public:
  Tracer(const Model& model, const Example& example, const TraceOptions& options)
      : model_(model),
        config_(model.config()),
        example_(example),
        options_(options),
        answer_at_(position_of(example, options.position)),
        encoder_(options.side == "encoder"),
        samples_(options.other ? 1 : options.samples) {
    check_options();
    const WeightTable weights(model);
    if (!options.other) {
      double factor = 1;  // what the embedding layer multiplies the table by is in the tap's values
      if (config_.scale_embedding) factor = std::sqrt(static_cast<double>(config_.width));
      deviation_ = options.noise * factor * deviation_of(embedding_table(weights, config_, options.side));
    }
    std::vector<std::string> names;
    for (const std::string& name : traced_names(config_, options.side))
      for (int64_t layer = 0; layer < layer_count(config_, options.side); ++layer) names.push_back(tap_of(name, layer));
    clean_values_ = tap_values(model, example, names);
    check(clean_values_.size() == names.size(), "[trace] some of the traced taps did not fire in this model");
  }

  int64_t positions() const { return side_tokens(example_).sequences.tokens(); }
  double deviation() const { return deviation_; }
  double clean() const {
    const Tensor logits = forward_logits(model_, example_, nullptr);
    return std::exp(log_probabilities(logits.values().row(answer_at_), logits.cols())[options_.answer]);
  }
  double corrupted() const { return probabilities({}, {-1})[0]; }

  // The answer's probability for each position restored, in a window of layers around one.
  std::vector<double> restored(const std::string& name, int64_t layer) const {
    const int64_t first = std::max<int64_t>(0, layer - (options_.window - 1) / 2);
    const int64_t last = std::min(layer_count(config_, options_.side) - 1, layer + options_.window / 2);
    std::vector<std::string> taps;
    for (int64_t l = first; l <= last; ++l) taps.push_back(tap_of(name, l));
    const int64_t tokens = example_.batch.source.sequences.tokens() + example_.positions();
    const int64_t at_once = std::max<int64_t>(1, kTokensAtOnce / (tokens * samples_));
    std::vector<double> result;
    for (int64_t begin = 0; begin < positions(); begin += at_once) {
      std::vector<int64_t> restored_positions;
      for (int64_t p = begin; p < std::min(begin + at_once, positions()); ++p) restored_positions.push_back(p);
      for (double p : probabilities(taps, restored_positions)) result.push_back(p);
    }
    return result;
  }

  std::string tap_of(const std::string& name, int64_t layer) const {
    return fmt::format("{}.{}.{}", stack_scope(config_, options_.side), layer, name);
  }

 private:
  const Tokens& side_tokens(const Example& example) const {
    return encoder_ ? example.batch.source : example.batch.input;
  }

  void check_options() const {
    check(config_.labels.empty(), "[trace] a model that classifies texts has no answer behind a token to trace");
    check(!example_.changes,
          "[trace] tracing changes values itself: take the interventions away, or change a weight instead");
    check(options_.window >= 1 && options_.samples >= 1, "[trace] window and samples are at least 1");
    check(options_.answer >= 0 && options_.answer < config_.vocab, "[trace] there is no token {}", options_.answer);
    if (options_.other) {
      check(options_.other->positions() == example_.positions() &&
                options_.other->batch.source.sequences == example_.batch.source.sequences,
            "[trace] the other text has {} tokens, this one {}: they must be as long as each other",
            side_tokens(*options_.other).sequences.tokens(), positions());
      return;
    }
    check(!options_.subject.empty(), "[trace] name the subject, whose embeddings get noise, or another text");
    for (int64_t p : options_.subject)
      check(p >= 0 && p < positions(), "[trace] there is no position {}: the text has {}", p, positions());
  }

  // One sequence for each position restored (-1: none) and each draw of the noise.
  std::vector<double> probabilities(const std::vector<std::string>& taps,
                                    const std::vector<int64_t>& restored_positions) const {
    const auto copies = static_cast<int64_t>(restored_positions.size()) * samples_;
    const Example& text = options_.other ? *options_.other : example_;
    Batch batch;
    if (!text.batch.source.ids.empty()) batch.source = repeated(text.batch.source, copies);
    batch.input = repeated(text.batch.input, copies);
    std::vector<int32_t> answers;
    for (int64_t i = 0; i < copies; ++i) answers.push_back(static_cast<int32_t>(i * text.positions() + answer_at_));
    FunctionProbe probe;
    Run run({.probe = &probe});
    if (!options_.other)
      probe.replace(embed_tap(config_, options_.side), [&](const Tap& tap) { return with_noise(run, tap, batch); });
    for (const std::string& name : taps)
      probe.replace(name, [&](const Tap& tap) {
        return with_clean(run, tap, batch, clean_values_.at(tap.name), restored_positions);
      });
    const Tensor logits = model_.logits(run, batch, TokenChoice::of(answers));
    std::vector<double> result(restored_positions.size());
    for (int64_t i = 0; i < copies; ++i)
      result[i / samples_] += std::exp(log_probabilities(logits.values().row(i), logits.cols())[options_.answer]) /
                              static_cast<double>(samples_);
    return result;
  }

  // The same draw for the same sample and position, whatever is restored.
  Tensor with_noise(Run& run, const Tap& tap, const Batch& batch) const {
    Tensor value = constant(run, tap.value.values());
    const std::vector<RowPlace> places = row_places(tap, batch);
    for (size_t i = 0; i < places.size(); ++i) {
      if (std::find(options_.subject.begin(), options_.subject.end(), places[i].position) == options_.subject.end())
        continue;
      Random random(random_key(options_.seed, static_cast<uint64_t>(places[i].sequence % samples_),
                               static_cast<uint64_t>(places[i].position)));
      real* row = value.values().row(static_cast<int64_t>(i));
      for (int64_t j = 0; j < value.cols(); ++j) row[j] += static_cast<real>(deviation_ * random.normal());
    }
    return value;
  }

  Tensor with_clean(Run& run, const Tap& tap, const Batch& batch, const TapValues& clean,
                    const std::vector<int64_t>& restored_positions) const {
    Tensor value = constant(run, tap.value.values());
    const std::vector<RowPlace> places = row_places(tap, batch);
    for (size_t i = 0; i < places.size(); ++i)
      if (restored_positions[places[i].sequence / samples_] == places[i].position)
        std::copy_n(clean.row(places[i].position), clean.cols, value.values().row(static_cast<int64_t>(i)));
    return value;
  }

  const Model& model_;
  const Config& config_;
  const Example& example_;
  const TraceOptions& options_;
  int64_t answer_at_;
  bool encoder_;
  int64_t samples_;
  double deviation_ = 0;
  std::map<std::string, TapValues> clean_values_;
};

}  // namespace

std::vector<std::string> traced_names(const Config& config, const std::string& side) {
  if (config.recurrent()) return {"h"};
  std::vector<std::string> names = {"resid_post", "attn_out"};
  if (config.cross_attention() && side != "encoder") names.emplace_back("cross_attn_out");
  if (config.feed_forward) names.emplace_back("ffn_out");
  return names;
}

double Trace::restored(const TraceMap& map, int64_t layer, int64_t position) const {
  return clean == corrupted ? 0 : (map.probability[layer * positions + position] - corrupted) / (clean - corrupted);
}

Trace causal_trace(const Model& model, const Example& example, const TraceOptions& options,
                   const std::function<void(double)>& progress) {
  const Tracer tracer(model, example, options);
  const std::vector<std::string> names = traced_names(model.config(), options.side);
  const int64_t layers = layer_count(model.config(), options.side);
  Trace trace{.clean = tracer.clean(),
              .corrupted = tracer.corrupted(),
              .deviation = tracer.deviation(),
              .positions = tracer.positions()};
  double done = 0;
  for (const std::string& name : names) {
    TraceMap map{.name = name};
    for (int64_t layer = 0; layer < layers; ++layer) {
      map.taps.push_back(tracer.tap_of(name, layer));
      const std::vector<double> row = tracer.restored(name, layer);
      map.probability.insert(map.probability.end(), row.begin(), row.end());
      if (progress) progress(++done / static_cast<double>(layers * static_cast<int64_t>(names.size())));
    }
    trace.maps.push_back(std::move(map));
  }
  return trace;
}

}  // namespace limpid
