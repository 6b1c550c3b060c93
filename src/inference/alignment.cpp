#include "inference/alignment.h"

#include <algorithm>

#include "inference/decoder_state.h"

namespace limpid {
namespace {

void check_choice(const std::optional<int64_t>& chosen, int64_t count, const char* what) {
  check(!chosen || (*chosen >= 0 && *chosen < count), "[align] there is no {} {}: the decoder has 0 to {}", what,
        chosen.value_or(0), count - 1);
}

void add_row(std::vector<double>& row, const real* weights, double factor) {
  for (size_t j = 0; j < row.size(); ++j) row[j] += factor * static_cast<double>(weights[j]);
}

// Watches the heads asked for.
void watch_heads(FunctionProbe& probe, const Config& config, const AlignmentOptions& options,
                 std::vector<Alignment>& results) {
  const int64_t layers = config.decoder.layers, heads = config.decoder.heads;
  check_choice(options.layer, layers, "layer");
  check_choice(options.head, heads, "head");
  const double factor = 1 / static_cast<double>((options.layer ? 1 : layers) * (options.head ? 1 : heads));
  for (int64_t layer = 0; layer < layers; ++layer) {
    if (options.layer.value_or(layer) != layer) continue;
    probe.on(fmt::format("decoder.{}.cross_attn.pattern", layer), [=, &results](const Tap& tap) {
      for (size_t i = 0; i < results.size(); ++i)
        for (int64_t head = 0; head < heads; ++head) {
          if (options.head.value_or(head) != head) continue;
          const ConstMatrix pattern = tap.pairs(static_cast<int64_t>(i), head);
          for (int64_t t = 0; t < pattern.rows; ++t) add_row(results[i][t], pattern.row(t), factor);
        }
    });
  }
}

// A recurrent decoder looks once per step, for the targets that are still running.
void watch_steps(FunctionProbe& probe, const Config& config, const AlignmentOptions& options,
                 std::vector<Alignment>& results) {
  check(config.rnn.context == ContextUse::additive,
        "[align] this recurrent model has no attention over the source: take one with \"attention\": \"additive\"");
  check_choice(options.layer, 1, "layer");
  check_choice(options.head, 1, "head");
  probe.on("align", [&results](const Tap& tap) {
    for (int64_t i = 0; i < tap.layout.rows->count(); ++i) {
      const int64_t text = tap.layout.order ? (*tap.layout.order)[i] : i;
      add_row(results[text][tap.layout.step], tap.pairs(i, 0).row(0), 1);
    }
  });
}

}  // namespace

std::vector<Alignment> align(const Model& model, std::span<const std::vector<int32_t>> sources,
                             std::span<const std::vector<int32_t>> targets, const AlignmentOptions& options) {
  const Config& config = model.config();
  check(config.has_source(), "[align] a model of type \"{}\" does not translate: take an encoder-decoder model",
        config.model_type);
  check(sources.size() == targets.size(), "[align] {} sources for {} targets", sources.size(), targets.size());
  const int32_t start = start_token(config);
  std::vector<Alignment> results;
  for (size_t i = 0; i < sources.size(); ++i) {
    check(!sources[i].empty() &&
              static_cast<int64_t>(std::max(sources[i].size(), targets[i].size())) <= most_positions(config),
          "[align] pair {} is empty or longer than the model's {} positions: shorten it", i + 1,
          most_positions(config));
    results.emplace_back(targets[i].size(), std::vector<double>(sources[i].size()));
  }
  if (results.empty()) return results;
  FunctionProbe probe;
  (config.cross_attention() ? watch_heads : watch_steps)(probe, config, options, results);
  Run run({.probe = &probe});
  const Batch batch = Batch::pairs({sources.begin(), sources.end()}, {targets.begin(), targets.end()}, start);
  model.forward(run, batch, TokenChoice::all());
  return results;
}

std::vector<std::pair<int64_t, int64_t>> hard_links(const Alignment& alignment) {
  std::vector<std::pair<int64_t, int64_t>> links;
  for (size_t t = 0; t + 1 < alignment.size(); ++t) {
    const auto& row = alignment[t];
    const auto source = std::max_element(row.begin(), row.end()) - row.begin();
    if (source + 1 < static_cast<int64_t>(row.size())) links.emplace_back(source, static_cast<int64_t>(t));
  }
  return links;
}

}  // namespace limpid
