// limpid embed: lines of text in, a vector for each out.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/line_texts.h"
#include "inference/embedding.h"
#include "inference/model_text.h"
#include "inference/results_json.h"

namespace limpid {
namespace {

struct EmbedOptions {
  std::string model;
  std::vector<std::string> files;
  int64_t layer = -1;
  bool json = false;
  std::string prompt;  // its name
  EmbeddingOptions embedding;
};

// What the model's files say, unless the command line says otherwise.
void take_settings(const CommandLine& line, const SentenceSettings& settings, EmbeddingOptions& options) {
  const bool own = line.count("--pooling") + line.count("--token") + line.count("--layer") + line.count("--tap") > 0;
  if (own) return;
  options.pooling = settings.embedding.pooling;
  options.further = settings.embedding.further;
  options.dense = settings.embedding.dense;
  options.normalize = options.normalize || settings.embedding.normalize;
}

void write(const std::string& text, const std::vector<real>& vector, bool json) {
  if (json) return fmt::print("{}\n", one_line(vector_json(text, vector)));
  std::string line;
  for (const real x : vector) fmt::format_to(std::back_inserter(line), "{}{:.6g}", line.empty() ? "" : " ", x);
  fmt::print("{}\n", line);
}

void embed_lines(const EmbedOptions& options, const LoadedModel& loaded) {
  const std::string prompt = loaded.sentence.prompt(options.prompt);
  EmbeddingOptions embedding = options.embedding;
  if (embedding.tap.empty()) embedding.left_out = tokens_left_out(loaded, prompt);  // a tap may have one row per text
  for_each_line_texts("embed", loaded, options.files,
                      [&](const LineTexts& texts) {
                        for (size_t i = 0; i < texts.lines.size(); ++i)
                          check(!texts.lines[i].empty() || !loaded.config().continues_text(),
                                "[embed] line {} is empty: a language model has no vector for it",
                                texts.first + static_cast<int64_t>(i));
                        const auto vectors = embed(*loaded.model, texts.ids, embedding);
                        for (size_t i = 0; i < vectors.size(); ++i) write(texts.lines[i], vectors[i], options.json);
                      },
                      {.longest = loaded.sentence.max_tokens,
                       .ids = [&](const std::string& line) { return sentence_ids(loaded, prompt + line); }});
}

}  // namespace

int run_embed(int argc, char** argv) {
  CommandLine line("embed", "Gives a vector for every line of text: numbers by which texts can be compared.",
                   "echo \"Good morning.\" | limpid embed MODEL");
  EmbedOptions options;
  line.add_option("MODEL", options.model, "a model's folder, or a file it can be read from")->required();
  line.add_option("FILES,--text", options.files, "texts, one per line, plain or gzip (none or -: the standard input)");
  line.add_option(
          "--pooling", options.embedding.pooling,
          "of the vectors of its tokens: mean, first, last or largest (default: as modules.json says, else mean)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Pooling>{
          {"mean", Pooling::mean}, {"first", Pooling::first}, {"last", Pooling::last}, {"largest", Pooling::largest}}));
  auto* token = line.add_option("--token", options.embedding.token,
                                "the vector of this token instead, counted from 0 with the special ones; -1: the last")
                    ->excludes("--pooling");
  auto* layer = line.add_option("--layer", options.layer,
                                "take the output of this layer, counted from 0 (default: the model's last vectors)")
                    ->check(CLI::Range(0, 100000));
  line.add_option("--tap", options.embedding.tap, "take this value instead, by its name in docs/taps.md")
      ->excludes(layer);
  line.add_flag("--normalize", options.embedding.normalize, "vectors of length 1: their product is the cosine");
  line.add_option(
      "--prompt", options.prompt,
      "the name of a prompt of the model's, which then stands before every text (default: its default one)");
  line.add_flag("--json", options.json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;
  if (token->count() > 0) options.embedding.pooling = Pooling::token;
  const LoadedModel loaded = load_model(options.model);
  for (const std::string& note : loaded.config().notes) fmt::print(stderr, "limpid embed: {}\n", note);
  take_settings(line, loaded.sentence, options.embedding);
  if (options.layer >= 0) options.embedding.tap = layer_tap(loaded.config(), options.layer);
  embed_lines(options, loaded);
  return 0;
}

}  // namespace limpid
