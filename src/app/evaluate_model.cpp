#include "app/evaluate_model.h"

#include <fmt/format.h>

#include <cmath>

#include "app/output_file.h"
#include "app/progress.h"
#include "app/training_display.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "inference/loaded_model.h"
#include "inference/model_text.h"
#include "text/word_tokenizer.h"
#include "training/dataset.h"
#include "training/likelihood.h"
#include "training/validation.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

// The recipe that a model was trained by; a model from elsewhere gets one that says no more than its family.
Recipe recipe_of(const EvaluateModelOptions& options, const Config& config) {
  const fs::path file = options.model / "recipe.toml";
  std::error_code none;
  Recipe recipe;
  if (fs::exists(file, none))
    recipe = load_recipe(file);
  else
    recipe.model = config.json;
  if (!options.test.empty()) {
    recipe.data.test = options.test;
    recipe.data.folder.clear();
  }
  return recipe;
}

bool has_held_out_text(const fs::path& model) {
  std::error_code none;
  return fs::exists(model / "data" / "dataset.json", none);
}

void check_test(const EvaluateModelOptions& options, const Recipe& recipe) {
  check(!recipe.data.test.empty() || has_held_out_text(options.model),
        "[evaluate] name the files to test on: --test source.txt target.txt, or data.test in the recipe");
  if (recipe.data.test.empty())
    fmt::print(stderr,
               "There are no test files: scored on the text that training held out, by which the best model was "
               "chosen (--test names others).\n");
}

// Pairs of the test files; of a run without them, those that it held out and keeps as text.
std::vector<std::pair<std::string, std::string>> test_pairs(const EvaluateModelOptions& options, const Recipe& recipe) {
  if (recipe.data.test.empty())
    return read_json(options.model / "data" / "dataset.json")
        .at("valid_texts")
        .get<std::vector<std::pair<std::string, std::string>>>();
  std::vector<std::pair<std::string, std::string>> pairs;
  CorpusReader reader(corpus_files(recipe, recipe.data.test));
  while (const auto example = reader.next()) pairs.emplace_back(example->first, example->second);
  check(!pairs.empty(), "[evaluate] {} is empty", recipe.data.test[0]);
  return pairs;
}

// Of what is not translated: loss, and of labels how many are right.
int evaluate_held_out(const EvaluateModelOptions& options, const LoadedModel& loaded, const Recipe& recipe) {
  const Dataset dataset = prepare_dataset(recipe, options.model);
  const ValidationReport report = validate(*loaded.model, recipe, dataset);
  if (!options.scores.json) {
    fmt::print("{}\n", describe(report));
    return 0;
  }
  nlohmann::ordered_json json = {{"loss", report.loss}, {"perplexity", std::exp(report.loss)}};
  if (report.exact) json["exact"] = *report.exact;
  fmt::print("{}\n", json.dump());
  return 0;
}

// As the recipe says, by the rules of the model's files.
GenerateOptions generate_options(const EvaluateModelOptions& options, const Recipe& recipe,
                                 const GenerationConfig& defaults) {
  GenerateOptions generate{.beam = recipe.decode.beam,
                           .length_penalty = recipe.decode.length_penalty,
                           .max_tokens = recipe.decode.max_tokens,
                           .repetition_penalty = defaults.repetition_penalty.value_or(1),
                           .scores = false,
                           .rules = defaults.rules};
  if (options.beam > 0) generate.beam = options.beam;
  if (options.length_penalty) generate.length_penalty = *options.length_penalty;
  return generate;
}

int evaluate_translations(const EvaluateModelOptions& options, const LoadedModel& loaded, const Recipe& recipe) {
  const bool split = recipe.tokenizer.kind == "words";  // "@@ " joins what was one word
  std::vector<std::vector<int32_t>> sources;
  std::vector<std::string> references;
  for (const auto& [source, target] : test_pairs(options, recipe)) {
    sources.push_back(input_ids(loaded, source));
    references.push_back(split ? join_subwords(target) : target);
  }
  const GenerateOptions generate = generate_options(options, recipe, loaded.generation);
  ScoredSystem system{options.model.string(), {}};
  constexpr size_t kAtOnce = 256;
  Progress progress(static_cast<int64_t>(sources.size()), options.scores.json);
  for (size_t begin = 0; begin < sources.size(); begin += kAtOnce) {
    const size_t count = std::min(kAtOnce, sources.size() - begin);
    for (const auto& hypotheses : translate(*loaded.model, std::span(sources).subspan(begin, count), generate))
      system.lines.push_back(loaded.writer().decode(hypotheses.at(0).ids));
    progress.update(static_cast<int64_t>(begin + count), "translating");
  }
  progress.clear();
  if (!options.hypotheses.empty()) {
    std::string text;
    for (const std::string& line : system.lines) text += line + '\n';
    write_output(options.hypotheses, text);
  }
  ScoreOptions scores = options.scores;
  scores.lowercase = scores.lowercase || recipe.validation.lowercase;
  if (split && scores.tokenizers == std::vector{BleuTokenizer::t13a}) scores.tokenizers = {BleuTokenizer::none};
  print_scores({system}, {references}, scores);
  return 0;
}

int evaluate_likelihood(const EvaluateModelOptions& options, const LoadedModel& loaded, const Recipe& recipe) {
  const Likelihood result = measure_likelihood(loaded, recipe);
  if (options.scores.json)
    fmt::print("{}\n", nlohmann::ordered_json{{"loss", result.loss()},
                                              {"perplexity", result.perplexity()},
                                              {"bits_per_byte", result.bits_per_byte()},
                                              {"tokens", result.tokens},
                                              {"bytes", result.bytes}}
                           .dump());
  else
    fmt::print("loss {:.4f} nats per token, perplexity {:.3f}, {:.4f} bits per byte ({} tokens, {} bytes)\n",
               result.loss(), result.perplexity(), result.bits_per_byte(), result.tokens, result.bytes);
  return 0;
}

}  // namespace

int evaluate_model(const EvaluateModelOptions& options) {
  const LoadedModel loaded = load_model(options.model);
  const Recipe recipe = recipe_of(options, loaded.config());
  const Config& config = loaded.config();
  check_test(options, recipe);
  if (recipe.data.test.empty() && !config.has_source()) return evaluate_held_out(options, loaded, recipe);
  check(config.writes(),
        "[evaluate] encoder models are scored on the text that their run held out, not on other files yet");
  if (config.continues_text()) return evaluate_likelihood(options, loaded, recipe);
  return evaluate_translations(options, loaded, recipe);
}

}  // namespace limpid
