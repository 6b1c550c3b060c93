#include "app/evaluate_model.h"

#include <fmt/format.h>

#include <cmath>

#include "app/progress.h"
#include "base/error.h"
#include "base/file.h"
#include "formats/json.h"
#include "inference/loaded_model.h"
#include "text/word_tokenizer.h"
#include "training/dataset.h"
#include "training/example_batch.h"

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
  check(!recipe.data.test.empty(),
        "[evaluate] name the files to test on: --test source.txt target.txt, or data.test in the recipe");
  return recipe;
}

// As the recipe says, by the rules of the model's files.
GenerateOptions generate_options(const EvaluateModelOptions& options, const Recipe& recipe,
                                 const GenerationConfig& wishes) {
  GenerateOptions generate{.beam = recipe.decode.beam,
                           .length_penalty = recipe.decode.length_penalty,
                           .max_tokens = recipe.decode.max_tokens,
                           .repetition_penalty = wishes.repetition_penalty.value_or(1),
                           .scores = false,
                           .rules = wishes.rules};
  if (options.beam > 0) generate.beam = options.beam;
  if (options.length_penalty >= 0) generate.length_penalty = options.length_penalty;
  return generate;
}

int evaluate_translations(const EvaluateModelOptions& options, const LoadedModel& loaded, const Recipe& recipe) {
  CorpusReader reader(corpus_files(recipe, recipe.data.test));
  const bool split = recipe.tokenizer.kind == "words";  // "@@ " joins what was one word
  std::vector<std::vector<int32_t>> sources;
  std::vector<std::string> references;
  while (const auto example = reader.next()) {
    sources.push_back(loaded.tokenizers.source->encode(example->first));
    sources.back().push_back(loaded.tokenizers.source->special().end);
    references.push_back(split ? join_subwords(std::string(example->second)) : std::string(example->second));
  }
  check(!sources.empty(), "[evaluate] {} is empty", recipe.data.test[0]);
  const GenerateOptions generate = generate_options(options, recipe, loaded.generation);
  ScoredSystem system{options.model.string(), {}};
  constexpr size_t kAtOnce = 256;
  Progress progress(static_cast<int64_t>(sources.size()), options.scores.json);
  for (size_t begin = 0; begin < sources.size(); begin += kAtOnce) {
    const size_t count = std::min(kAtOnce, sources.size() - begin);
    for (const auto& hypotheses : translate(*loaded.model, std::span(sources).subspan(begin, count), generate))
      system.lines.push_back(loaded.tokenizers.target->decode(hypotheses.at(0).ids));
    progress.update(static_cast<int64_t>(begin + count), "translating");
  }
  progress.clear();
  if (!options.hypotheses.empty()) {
    std::string text;
    for (const std::string& line : system.lines) text += line + '\n';
    write_text(options.hypotheses, text);
  }
  ScoreOptions scores = options.scores;
  scores.lowercase = scores.lowercase || recipe.validation.lowercase;
  if (split && scores.tokenizers == std::vector{BleuTokenizer::t13a}) scores.tokenizers = {BleuTokenizer::none};
  print_scores({system}, {references}, scores);
  return 0;
}

// Text that the model has not seen, by the same windows or lines as in training.
int evaluate_likelihood(const EvaluateModelOptions& options, const LoadedModel& loaded, const Recipe& recipe) {
  const Tokenizer& tokenizer = *loaded.tokenizers.source;
  const SpecialIds special = tokenizer.special();
  const bool stream = recipe.data.unit == "stream";
  const auto window =
      static_cast<size_t>(stream && recipe.batch.window > 0 ? recipe.batch.window : loaded.config().max_positions);
  CorpusReader reader(corpus_files(recipe, recipe.data.test));
  std::vector<int32_t> waiting;
  double nats = 0;
  int64_t tokens = 0, bytes = 0;
  const Arena arena;
  const auto score = [&](const std::vector<int32_t>& ids) {
    if (ids.size() < 2) return;
    Run run({.arena = arena});
    const Loss loss = loaded.model->loss(run, Batch::next_tokens({ids}), {});
    nats += loss.sum;
    tokens += loss.tokens;
  };
  const auto flush = [&](bool all) {
    while (waiting.size() > window || (all && waiting.size() > 1)) {
      const size_t count = std::min(window + 1, waiting.size());
      score({waiting.begin(), waiting.begin() + static_cast<ptrdiff_t>(count)});
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<ptrdiff_t>(count - 1));
    }
  };
  while (const auto example = reader.next()) {
    bytes += static_cast<int64_t>(example->first.size()) + 1;
    std::vector<int32_t> ids =
        tokenizer.encode(stream && special.end < 0 ? std::string(example->first) + '\n' : std::string(example->first));
    if (!stream && special.begin >= 0) ids.insert(ids.begin(), special.begin);
    if (special.end >= 0) ids.push_back(special.end);
    waiting.insert(waiting.end(), ids.begin(), ids.end());
    flush(!stream);
    if (!stream) waiting.clear();
  }
  flush(true);
  check(tokens > 0, "[evaluate] there is nothing to predict in {}", recipe.data.test[0]);
  const double mean = nats / static_cast<double>(tokens), bits = nats / std::log(2) / static_cast<double>(bytes);
  if (options.scores.json)
    fmt::print("{}\n", nlohmann::ordered_json{{"loss", mean},
                                              {"perplexity", std::exp(mean)},
                                              {"bits_per_byte", bits},
                                              {"tokens", tokens},
                                              {"bytes", bytes}}
                           .dump());
  else
    fmt::print("loss {:.4f} nats a token, perplexity {:.3f}, {:.4f} bits a byte ({} tokens, {} bytes)\n", mean,
               std::exp(mean), bits, tokens, bytes);
  return 0;
}

}  // namespace

int evaluate_model(const EvaluateModelOptions& options) {
  const LoadedModel loaded = load_model(options.model);
  const Recipe recipe = recipe_of(options, loaded.config());
  const Family family = loaded.config().family;
  check(family != Family::encoder,
        "[evaluate] encoder models have no score here yet: limpid train shows their validation");
  if (family == Family::language_model) return evaluate_likelihood(options, loaded, recipe);
  return evaluate_translations(options, loaded, recipe);
}

}  // namespace limpid
