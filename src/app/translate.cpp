// limpid translate: lines of text in, their translations out.

#include <fmt/format.h>

#include <algorithm>

#include "app/command.h"
#include "app/sampling_flags.h"
#include "app/translate_lines.h"
#include "inference/languages.h"

namespace limpid {
namespace {

void add_search_options(CommandLine& line, GenerateOptions& generate) {
  line.add_option("--beam", generate.beam, "hypotheses kept while searching (1: greedy)")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  line.add_option("--n-best", generate.n_best,
                  "translations of each line, at most as many as the beam; above 1 they come as line, score, text")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  line.add_option("--length-penalty", generate.length_penalty,
                  "scores are log-probability / length^penalty; more favours longer texts")
      ->check(CLI::Range(-10.0, 10.0))
      ->capture_default_str();
  line.add_option("--max-tokens", generate.max_tokens,
                  "most tokens of a translation (0: twice those of the source + 50)")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
}

void add_options(CommandLine& line, TranslateOptions& options) {
  line.add_option("MODEL", options.model, "a model's folder, as training writes it")->required();
  line.add_option("FILES,--text", options.files, "texts, one per line, plain or gzip (none or -: the standard input)");
  add_search_options(line, options.generate);
  line.add_option("--source-lang", options.source_language,
                  "of models of many languages: that of the texts, as the vocabulary names it (eng_Latn, en_XX, en)");
  line.add_option("--target-lang", options.target_language, "that of the translations");
  line.add_option("--prefix", options.prefix, "text that every translation must begin with");
  line.add_option("--samples", options.samples,
                  "draw so many translations of each line instead of searching for the likeliest")
      ->check(CLI::Range(1, 1000));
  add_sampling_flags(line, options.drawing.sampling);
  add_repetition_flag(line, options.drawing.rules);
  line.add_option("--seed", options.drawing.seed, "of --samples: same seed, same translation")->capture_default_str();
  line.add_flag("--score", options.score,
                "translate nothing: lines are a source and a translation with a tab between, and come out with scores");
  line.add_option(
      "--alignment", options.alignment,
      "tell which source token each token was written from, by cross-attention: all (the mean of all heads), "
      "a layer (3) or a layer and head (3.1); as pairs 0-0 1-2 behind a tab, with all weights in --json");
  line.add_option("--split-above", options.split_above,
                  "lines of more tokens are translated sentence by sentence and joined again (0: all lines)")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  line.add_option("--batch-size", options.generate.max_batch,
                  "sentences side by side at most; of more than that each thread takes as many")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  add_memory_flag(line, options.generate.memory);
  line.add_flag("--json", options.json, "print JSON, one object per line");
}

// What the user left open is as the model's defaults say.
void take_defaults(const CommandLine& line, const GenerationConfig& config, TranslateOptions& options) {
  const GenerateOptions& generate = options.generate;
  RequestOptions request = asked_of(line, options.drawing.sampling, options.drawing.rules);
  if (line.count("--samples") > 0) request.sample = true;
  request.n_best = options.samples > 0 ? std::optional(std::max(options.samples, generate.n_best))
                                       : given(line, "--n-best", generate.n_best);
  request.beams = given(line, "--beam", generate.beam);
  request.length_penalty = given(line, "--length-penalty", generate.length_penalty);
  request.max_tokens = given(line, "--max-tokens", generate.max_tokens);
  static_cast<TextTranslatorOptions&>(options) = merged_translation(request, config, options);
}

}  // namespace

int run_translate(int argc, char** argv) {
  CommandLine line("translate", "Translates text line by line with a model that was trained here or elsewhere.",
                   "echo \"Good morning.\" | limpid translate MODEL");
  TranslateOptions options;
  add_options(line, options);
  if (const auto code = line.read(argc, argv)) return *code;
  if (line.count("--beam") > 0 && options.generate.n_best > options.generate.beam && options.samples == 0) {
    fmt::print(stderr, "limpid translate: --n-best {} needs a --beam of at least {}\n", options.generate.n_best,
               options.generate.n_best);
    return 2;
  }
  LoadedModel loaded = load_model(options.model);
  for (const std::string& note : loaded.config().notes) fmt::print(stderr, "limpid translate: {}\n", note);
  set_languages(loaded, options.source_language, options.target_language);
  take_defaults(line, loaded.generation, options);
  check(options.generate.beam <= loaded.config().vocab,
        "[translate] a beam of {} and a vocabulary of {}: there are no more tokens to choose from than that",
        options.generate.beam, loaded.config().vocab);
  options.generate.scores = options.json || options.generate.n_best > 1;
  LineTranslator translator(options, loaded);
  options.score ? translator.score() : translator.translate();
  return 0;
}

}  // namespace limpid
