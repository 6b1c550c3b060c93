#include "inspect/induction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"
#include "inspect/head_statistics.h"
#include "models/model.h"
#include "training/optimizer.h"

namespace limpid {
namespace {

// Stands before every sequence.
int32_t begin_token(const InductionStudyOptions& options) { return static_cast<int32_t>(options.alphabet); }

Config model_config(const InductionStudyOptions& options, int64_t layers) {
  const nlohmann::ordered_json json = {
      {"model_type", "gpt2"},    {"vocab_size", options.alphabet + 1},
      {"n_embd", options.width}, {"n_layer", layers},
      {"n_head", options.heads}, {"n_positions", 2 * options.longest + 1},
      {"embd_pdrop", 0.0},       {"attn_pdrop", 0.0},
      {"resid_pdrop", 0.0},      {"limpid", {{"feed_forward", false}, {"positions", "rotary"}}}};
  return parse_config(json);
}

struct Sequence {
  std::vector<int32_t> ids;  // the beginning, the letters, the letters again
  int64_t length = 0;        // of the letters
};

// A function of the arguments alone. Held-out sequences come from keys of their own.
Sequence sequence_of(const InductionStudyOptions& options, int64_t index, bool held_out) {
  Random random(random_key(options.seed, static_cast<uint64_t>(index), held_out ? 22 : 21));
  Sequence sequence{.ids = {begin_token(options)},
                    .length = options.shortest + random.below(options.longest - options.shortest + 1)};
  for (int64_t i = 0; i < sequence.length; ++i)
    sequence.ids.push_back(static_cast<int32_t>(random.below(options.alphabet)));
  sequence.ids.insert(sequence.ids.end(), sequence.ids.begin() + 1, sequence.ids.begin() + 1 + sequence.length);
  return sequence;
}

Batch batch_of(const std::vector<Sequence>& sequences) {
  std::vector<std::vector<int32_t>> rows;
  for (const Sequence& sequence : sequences) rows.push_back(sequence.ids);
  return Batch::next_tokens(rows);
}

double half_loss(const Model& model, const std::vector<Sequence>& sequences, bool second) {
  Batch batch = batch_of(sequences);
  int64_t at = 0;
  for (const Sequence& sequence : sequences)
    for (int64_t i = 0; i < 2 * sequence.length; ++i, ++at)
      // The first letter of the second copy could be one more new letter.
      if (second ? i <= sequence.length : i >= sequence.length) batch.labels[at] = -1;
  Run run({});
  return model.loss(run, batch, {}).mean();
}

InductionPoint measure(const Model& model, const std::vector<Sequence>& held_out, int64_t step) {
  InductionPoint point{.step = step};
  const int64_t heads = model.config().stack().heads, layers = model.config().stack().layers;
  std::vector<double> scores(layers * heads);
  FunctionProbe probe;
  for (int64_t layer = 0; layer < layers; ++layer)
    probe.on(fmt::format("blocks.{}.attn.pattern", layer), [&, layer](const Tap& tap) {
      for (size_t s = 0; s < held_out.size(); ++s)
        for (int64_t head = 0; head < heads; ++head)
          scores[layer * heads + head] +=
              induction_score(tap.pairs(static_cast<int64_t>(s), head), 1, held_out[s].length) /
              static_cast<double>(held_out.size());
    });
  Run run({.probe = &probe});
  model.forward(run, batch_of(held_out), TokenChoice::all());
  const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
  point.score = scores[best];
  point.layer = best / heads;
  point.head = best % heads;
  point.scores = std::move(scores);
  point.first = half_loss(model, held_out, false);
  point.second = half_loss(model, held_out, true);
  return point;
}

}  // namespace

std::vector<InductionCurve> study_induction(const InductionStudyOptions& options, const InductionProgress& progress) {
  check(options.alphabet >= 2, "[induction] an alphabet has at least two letters");
  check(options.shortest >= 2 && options.longest >= options.shortest,
        "[induction] a sequence has at least two letters before it is repeated, and the longest is no shorter than the "
        "shortest");
  constexpr int64_t kHeldOut = 64;
  std::vector<Sequence> held_out;
  for (int64_t i = 0; i < kHeldOut; ++i) held_out.push_back(sequence_of(options, i, true));
  std::vector<InductionCurve> curves;
  const Arena arena;
  int64_t done = 0;
  for (int64_t layers : options.layers) {
    const auto model = make_model(model_config(options, layers));
    Parameters parameters([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); });
    parameters.initialize(options.seed);
    Gradients gradients(parameters);
    Optimizer optimizer(parameters, {.beta2 = 0.98, .clip_norm = 1});
    InductionCurve curve{.layers = layers, .parameters = parameters.trainable_size(), .points = {}};
    curve.points.push_back(measure(*model, held_out, 0));
    for (int64_t step = 0; step < options.steps; ++step) {
      std::vector<Sequence> sequences;
      for (int64_t i = 0; i < options.batch; ++i)
        sequences.push_back(sequence_of(options, step * options.batch + i, false));
      gradients.clear();
      Tape tape(arena, &gradients);
      Run run(
          {.arena = arena, .tape = &tape, .train = true, .seed = options.seed, .step = static_cast<uint64_t>(step)});
      model->loss(run, batch_of(sequences), {});
      tape.backward();
      const double warm = std::min(1.0, static_cast<double>(step + 1) / 100);
      optimizer.step(parameters, gradients, options.learning_rate * warm);
      if ((step + 1) % options.every == 0 || step + 1 == options.steps)
        curve.points.push_back(measure(*model, held_out, step + 1));
      check(!progress || progress(++done, curve), "[induction] interrupted: nothing was written");
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

nlohmann::ordered_json induction_json(const InductionPoint& point) {
  return {{"step", point.step},     {"score", point.score},      {"layer", point.layer},       {"head", point.head},
          {"scores", point.scores}, {"loss_first", point.first}, {"loss_second", point.second}};
}

nlohmann::ordered_json induction_json(const InductionCurve& curve) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const InductionPoint& point : curve.points) points.push_back(induction_json(point));
  return {{"layers", curve.layers}, {"parameters", curve.parameters}, {"points", points}};
}

Chart induction_chart(const std::vector<InductionCurve>& curves) {
  Chart chart{.title = "Attention to what followed last time, best head",
              .x_name = "training steps",
              .y_name = "induction score",
              .low = 0,
              .high = 1};
  for (const InductionCurve& curve : curves) {
    chart.series.push_back({.name = fmt::format("{} layer{} of attention", curve.layers, curve.layers > 1 ? "s" : "")});
    for (const InductionPoint& point : curve.points)
      chart.series.back().points.push_back({static_cast<double>(point.step), point.score});
  }
  return chart;
}

Chart induction_loss_chart(const std::vector<InductionCurve>& curves) {
  constexpr double kMostLoss = 5;
  Chart chart{.title = "Loss on the second copy, nats per letter",
              .x_name = "training steps",
              .y_name = "loss",
              .low = 0,
              .high = kMostLoss};
  for (const InductionCurve& curve : curves) {
    chart.series.push_back({.name = fmt::format("{} layer{} of attention", curve.layers, curve.layers > 1 ? "s" : "")});
    for (const InductionPoint& point : curve.points)
      chart.series.back().points.push_back({static_cast<double>(point.step), std::min(point.second, kMostLoss)});
  }
  return chart;
}

}  // namespace limpid
