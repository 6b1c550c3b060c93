#include "app/capture_bench.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "app/measuring.h"
#include "app/peak_memory.h"
#include "base/parallel.h"
#include "base/random.h"
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
      model.forward(run, text.batch);
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
  double plain = 0, probed = 0, captured = 0;
  const auto best = [](double& of, double seconds) { of = of == 0 ? seconds : std::min(of, seconds); };
  for (int round = 0; round < options.rounds; ++round) {
    best(plain, seconds_of([&] { forward(nullptr); }));
    best(probed, seconds_of([&] { forward(&empty); }));
    best(captured, seconds_of([&] { capture_all(texts.size()); }));
  }
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
          {"memory_mb", rounded(peak_memory_mb(), 10)}};
}

}  // namespace limpid
