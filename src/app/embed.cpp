// limpid embed: lines of text in, a vector for each out.

#include <fmt/format.h>

#include <cstdio>

#include "app/command.h"
#include "app/input_lines.h"
#include "inference/decoder_state.h"
#include "inference/embedding.h"
#include "inference/model_text.h"

namespace limpid {
namespace {

constexpr size_t kLinesAtOnce = 256;

struct EmbedOptions {
  std::string model;
  std::vector<std::string> files;
  int64_t layer = -1;
  bool json = false;
  EmbeddingOptions embedding;
};

// Tokens that the model can read; the end of a longer text is left out, its last token (often a special one) stays.
std::vector<int32_t> fitting(std::vector<int32_t> ids, const Config& config, int64_t line) {
  const int64_t most = most_positions(config);
  if (static_cast<int64_t>(ids.size()) <= most) return ids;
  fmt::print(stderr, "limpid embed: line {} has {} tokens, the model reads {}: its end is left out\n", line, ids.size(),
             most);
  ids.erase(ids.begin() + most - 1, ids.end() - 1);
  return ids;
}

void write(const std::string& text, const std::vector<real>& vector, bool json) {
  if (json) {
    const nlohmann::ordered_json line = {{"text", text}, {"vector", vector}};
    fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return;
  }
  std::string line;
  for (const real x : vector) fmt::format_to(std::back_inserter(line), "{}{:.6g}", line.empty() ? "" : " ", x);
  fmt::print("{}\n", line);
}

void embed_lines(const EmbedOptions& options, const LoadedModel& loaded) {
  InputLines input(options.files);
  int64_t number = 0;
  for (;;) {
    const std::vector<std::string> lines = input.next_lines(kLinesAtOnce);
    if (lines.empty()) return;
    std::vector<std::vector<int32_t>> texts;
    for (const std::string& line : lines) {
      ++number;
      check(!line.empty() || loaded.config().family != Family::language_model,
            "[embed] line {} is empty: a language model has no vector for it", number);
      texts.push_back(fitting(input_ids(loaded, line), loaded.config(), number));
    }
    const auto vectors = embed(*loaded.model, texts, options.embedding);
    for (size_t i = 0; i < lines.size(); ++i) write(lines[i], vectors[i], options.json);
    check(std::fflush(stdout) == 0, "[embed] the output cannot be written: is the disk full?");
  }
}

}  // namespace

int run_embed(int argc, char** argv) {
  CommandLine line("embed", "Gives a vector for every line of text: numbers by which texts can be compared.",
                   "echo \"Good morning.\" | limpid embed MODEL");
  EmbedOptions options;
  line.add_option("MODEL", options.model, "a model's folder, or a file it can be read from")->required();
  line.add_option("FILES", options.files, "texts, a line each, plain or gzip (none or -: the standard input)");
  line.add_option("--pooling", options.embedding.pooling, "of the vectors of its tokens: mean, first or last")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Pooling>{{"mean", Pooling::mean}, {"first", Pooling::first}, {"last", Pooling::last}}))
      ->default_str("mean");
  auto* token = line.add_option("--token", options.embedding.token,
                                "the vector of this token instead, counted from 0 with the special ones; -1: the last")
                    ->excludes("--pooling");
  auto* layer = line.add_option("--layer", options.layer,
                                "take the output of this layer, counted from 0 (default: the model's last vectors)")
                    ->check(CLI::Range(0, 100000));
  line.add_option("--tap", options.embedding.tap, "take this value instead, by its name in docs/taps.md")
      ->excludes(layer);
  line.add_flag("--normalize", options.embedding.normalize, "vectors of length 1: their product is the cosine");
  line.add_flag("--json", options.json, "for machines: one object a line");
  if (const auto code = line.read(argc, argv)) return *code;
  if (token->count() > 0) options.embedding.pooling = Pooling::token;
  const LoadedModel loaded = load_model(options.model);
  for (const std::string& note : loaded.config().notes) fmt::print(stderr, "limpid embed: {}\n", note);
  if (options.layer >= 0) options.embedding.tap = layer_tap(loaded.config(), options.layer);
  embed_lines(options, loaded);
  return 0;
}

}  // namespace limpid
