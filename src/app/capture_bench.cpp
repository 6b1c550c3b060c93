#include "app/capture_bench.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/measuring.h"
#include "app/peak_memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "inference/decoder_state.h"
#include "inspect/capture.h"

namespace limpid {
namespace {

std::vector<Example> random_texts(const Config& config, int64_t texts, int64_t tokens) {
  std::vector<Example> examples;
  for (int64_t t = 0; t < texts; ++t) {
    Random random(random_key(1, static_cast<uint64_t>(t), 5));
    std::vector<int32_t> ids(tokens);
    for (int32_t& id : ids) id = static_cast<int32_t>(random.below(config.vocab));
    examples.push_back(example_of(config, ids, ids));
  }
  return examples;
}

double seconds_of(const std::function<void()>& work) {
  const double start = seconds_now();
  work();
  return seconds_now() - start;
}

// Seconds of the same work under every probe, in turns: the best of the rounds.
template <size_t count>
std::array<double, count> best_of_rounds(int rounds, const std::array<std::function<void()>, count>& works) {
  std::array<double, count> best{};
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < count; ++i) {
      const double seconds = seconds_of(works[i]);
      best[i] = round == 0 ? seconds : std::min(best[i], seconds);
    }
  return best;
}

// How fast work is under an empty probe, of its speed without one.
double with_empty_probe(int rounds, const std::function<void(Probe*)>& work) {
  FunctionProbe empty;
  work(nullptr);
  const auto [plain, probed] = best_of_rounds<2>(rounds, {[&] { work(nullptr); }, [&] { work(&empty); }});
  return rounded(plain / probed, 10000);
}

double training_with_empty_probe(int rounds, const Config& config, const Batch& batch) {
  const auto model = make_model(config);  // new weights: those of a file cannot be trained where they lie
  Parameters parameters([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); });
  parameters.initialize(1);
  Gradients gradients(parameters);
  const Arena arena;
  return with_empty_probe(rounds, [&](Probe* probe) {
    gradients.clear();
    Tape tape(arena, &gradients);
    Run run({.arena = arena, .tape = &tape, .probe = probe, .train = true, .seed = 1});
    model->loss(run, batch, {});
    tape.backward();
  });
}

// Steps take turns, since a step is short and a machine's memory is not equally fast from one second to the next.
double decoding_with_empty_probe(const CaptureBench& options, const Model& model) {
  FunctionProbe empty;
  std::vector<double> ratios;
  for (int round = 0; round < options.rounds; ++round) {
    const std::vector<std::vector<int32_t>> text = {{1}};
    const auto plain = make_decoder_state(model), probed = make_decoder_state(model);
    const std::vector<int32_t> ids = plain->add(text);
    probed->add(text);
    probed->watch(&empty);
    double plain_seconds = 0, probed_seconds = 0;
    for (int64_t i = 0; i < options.tokens; ++i) {
      plain_seconds += seconds_of([&] { plain->step(ids); });
      probed_seconds += seconds_of([&] { probed->step(ids); });
    }
    ratios.push_back(plain_seconds / probed_seconds);
  }
  std::nth_element(ratios.begin(), ratios.begin() + options.rounds / 2, ratios.end());
  return rounded(ratios[static_cast<size_t>(options.rounds) / 2], 10000);
}

}  // namespace

nlohmann::ordered_json bench_capture(const CaptureBench& options) {
  const LoadedModel loaded = load_model(options.model, {.need_tokenizers = false});
  const Model& model = *loaded.model;
  const std::vector<Example> texts = random_texts(loaded.config(), options.texts, options.tokens);
  const std::string path =
      (std::filesystem::path(options.folder) / fmt::format("limpid-bench-capture-{}.safetensors", ::getpid())).string();
  const Arena arena;
  const auto forward = [&](Probe* probe) {
    for (const Example& text : texts) {
      Run run({.arena = arena, .probe = probe});
      model.forward(run, text.batch, text.choice);
    }
  };
  int64_t bytes = 0;
  const auto capture_all = [&](size_t count) {
    const Examples examples = [&](const std::function<void(const Example&)>& use) {
      for (size_t i = 0; i < count; ++i) use(texts[i]);
    };
    const CapturePlan plan = plan_capture(model, {.patterns = {options.tap}}, examples);
    bytes = plan.bytes;
    capture(model, plan, examples, path);
    std::filesystem::remove(path);
  };
  forward(nullptr);  // warm
  capture_all(1);
  const double memory_of_one = peak_memory_mb();
  FunctionProbe empty;
  const auto [plain, probed, captured] = best_of_rounds<3>(
      options.rounds, {[&] { forward(nullptr); }, [&] { forward(&empty); }, [&] { capture_all(texts.size()); }});
  const double memory = peak_memory_mb();
  const auto tokens = static_cast<double>(options.texts * options.tokens);
  return {{"bench", "capture"},
          {"model", options.model},
          {"tap", options.tap},
          {"threads", threads()},
          {"texts", options.texts},
          {"tokens", options.tokens},
          {"captured_mb", rounded(static_cast<double>(bytes) / 1e6, 10)},
          {"plain_tokens_per_second", rounded(tokens / plain, 10)},
          {"empty_probe_tokens_per_second", rounded(tokens / probed, 10)},
          {"capture_tokens_per_second", rounded(tokens / captured, 10)},
          {"empty_of_plain", rounded(plain / probed, 10000)},
          {"of_plain", rounded(plain / captured, 1000)},
          {"memory_mb_one_text", rounded(memory_of_one, 10)},
          {"memory_mb", rounded(memory, 10)},
          {"decoding_empty_of_plain", decoding_with_empty_probe(options, model)},
          {"training_empty_of_plain", training_with_empty_probe(options.rounds, model.config(), texts.front().batch)}};
}

}  // namespace limpid
