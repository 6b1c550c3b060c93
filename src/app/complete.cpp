// limpid complete: goes on with a prompt, or fills the masks of a text.

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "app/command.h"
#include "app/completion.h"
#include "app/sampling_flags.h"
#include "inference/model_text.h"

namespace limpid {
namespace {

// One text is shown while it is written, several when they are done.
void write_all(const CompleteOptions& options, const LoadedModel& loaded) {
  const std::vector<std::string> prompts = read_prompts(options, options.lines);
  std::vector<CompletionRequest> requests;
  for (const std::string& prompt : prompts)
    for (int64_t sample = 0; sample < options.samples; ++sample)
      requests.push_back(
          {.ids = input_ids(loaded, prompt), .options = options.completion, .sample = static_cast<uint64_t>(sample)});
  const bool stream = requests.size() == 1 && !options.json;
  if (stream) {
    if (options.echo) fmt::print("{}", prompts[0]);
    requests[0].listener = [](const CompletionPart& part) {
      show(part.text);
      return true;
    };
  }
  const auto results = complete(*loaded.model, *loaded.tokenizers.target, requests, options.texts_at_once);
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string& prompt = prompts[i / static_cast<size_t>(options.samples)];
    if (options.json) {
      fmt::print("{}\n", one_line(to_json(options, *loaded.tokenizers.target, prompt, requests[i], results[i])));
      continue;
    }
    if (!stream) fmt::print("==> {} <==\n{}{}", i + 1, options.echo ? prompt : "", results[i].text);
    fmt::print("\n");
    tell(options, *loaded.tokenizers.target, results[i], requests.size() > 1 ? fmt::format("text {}: ", i + 1) : "");
  }
  show("");
}

void add_options(CommandLine& line, CompleteOptions& options) {
  CompletionOptions& completion = options.completion;
  line.add_option("MODEL", options.model, "a model's folder, or a file it can be read from")->required();
  line.add_option("PROMPTS", options.prompts, "texts to go on with (none: --file or the standard input)");
  line.add_option("--file", options.file, "read the prompt from a file, plain or gzip");
  line.add_flag("--lines", options.lines, "every line of the input is a prompt of its own (else all of it is one)");
  line.add_flag("-i,--interactive", options.interactive, "take turns: you type a line, the model goes on");
  line.add_option("-n,--max-tokens", completion.max_tokens, "most tokens to write")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  add_sampling_flags(line, completion.sampling);
  line.add_option("--seed", completion.seed, "same seed, same text (default: another one every time, which is told)");
  line.add_option("--samples", options.samples, "texts for each prompt")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  line.add_option("--stop", completion.stop, "end before this text; may be given several times")
      ->allow_extra_args(false);
  line.add_flag("--ignore-end", completion.ignore_end, "never end by the model's own end token");
  line.add_option("--context", completion.context, "tokens that the model looks back on (0: what it was made for)")
      ->check(CLI::Range(0, 1 << 30));
  line.add_flag("--stop-at-context", options.stop_at_context,
                "end where the context is full (else the earlier half of the text is forgotten)");
  line.add_flag("--echo", options.echo, "show the prompt too");
  line.add_option("--log-probabilities", options.log_probabilities,
                  "show every token's log-probability, and so many of the likeliest tokens in its place; of masks, how "
                  "many to show")
      ->check(CLI::Range(0, 1000));
  line.add_option("--texts-at-once", options.texts_at_once, "prompts worked on side by side: bounds memory")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  line.add_flag("--json", options.json, "for machines: one object a text");
}

}  // namespace

int run_complete(int argc, char** argv) {
  CommandLine line("complete", "Goes on with a text, token by token; with an encoder model, fills its masks.",
                   "limpid complete MODEL \"Once upon a time\" --temperature 0.7 --max-tokens 100");
  CompleteOptions options;
  options.completion.sampling = {.temperature = 0.8, .top_k = 40, .top_p = 0.95};
  add_options(line, options);
  if (const auto code = line.read(argc, argv)) return *code;
  options.completion.top = std::max<int64_t>(options.log_probabilities, 0);
  options.completion.slide = !options.stop_at_context;
  if (options.interactive && (options.json || !options.prompts.empty() || !options.file.empty())) {
    fmt::print(stderr, "limpid complete: --interactive takes its text from the terminal alone\n");
    return 2;
  }
  const LoadedModel loaded = load_model(options.model);
  for (const std::string& note : loaded.config().notes) fmt::print(stderr, "limpid complete: {}\n", note);
  const Family family = loaded.config().family;
  check(family == Family::language_model || family == Family::encoder,
        "[complete] a model of type \"{}\" translates: use limpid translate", loaded.config().model_type);
  if (family == Family::encoder) {
    fill_masks_of(options, loaded);
    return 0;
  }
  if (line.count("--seed") == 0 && options.completion.sampling.temperature > 0) {
    options.completion.seed = std::random_device{}();
    if (!options.json) fmt::print(stderr, "limpid complete: --seed {}\n", options.completion.seed);
  }
  if (options.interactive)
    converse(options, loaded);
  else
    write_all(options, loaded);
  return 0;
}

}  // namespace limpid
