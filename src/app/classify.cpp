// limpid classify: lines of text in, the label of each out.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/line_texts.h"
#include "inference/fill_mask.h"
#include "inference/results_json.h"

namespace limpid {
namespace {

struct ClassifyOptions {
  std::string model;
  std::vector<std::string> files;
  int64_t top = 1;
  bool json = false;
};

void write(const std::string& text, const std::vector<double>& numbers, const Config& config,
           const ClassifyOptions& options) {
  if (options.json) return fmt::print("{}\n", one_line(labels_json(text, numbers, config)));
  const std::vector<size_t> order = ranked_labels(numbers);
  for (size_t i = 0; i < std::min(order.size(), static_cast<size_t>(options.top)); ++i)
    fmt::print("{}{}\t{:.4f}", i == 0 ? "" : "\t", config.labels[order[i]], numbers[order[i]]);
  fmt::print("\n");
}

void classify_lines(const ClassifyOptions& options, const LoadedModel& loaded) {
  for_each_line_texts("classify", loaded, options.files, [&](const LineTexts& texts) {
    const auto results = classify(*loaded.model, texts.ids);
    for (size_t i = 0; i < results.size(); ++i) write(texts.lines[i], results[i], loaded.config(), options);
  });
}

}  // namespace

int run_classify(int argc, char** argv) {
  CommandLine line("classify", "Gives every line of text its label and how sure the model is of it.",
                   "echo \"What a wonderful day!\" | limpid classify MODEL");
  ClassifyOptions options;
  line.add_option("MODEL", options.model, "the folder of an encoder model that was trained on texts with labels")
      ->required();
  line.add_option("FILES,--text", options.files, "texts, one per line, plain or gzip (none or -: the standard input)");
  line.add_option("--top", options.top, "show so many labels, the likeliest first")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  line.add_flag("--json", options.json, "print JSON, one object per line, with all labels");
  if (const auto code = line.read(argc, argv)) return *code;
  const LoadedModel loaded = load_model(options.model);
  for (const std::string& note : loaded.config().notes) fmt::print(stderr, "limpid classify: {}\n", note);
  if (loaded.config().classifies() && label_numbers(loaded.config()) == LabelNumbers::scores)
    fmt::print(stderr, "limpid classify: the numbers are the model's own scores, no probabilities\n");
  if (loaded.config().classifies() && label_numbers(loaded.config()) == LabelNumbers::each)
    fmt::print(stderr, "limpid classify: a text may have several labels: each has a probability of its own\n");
  classify_lines(options, loaded);
  return 0;
}

}  // namespace limpid
