// limpid complete: continues a prompt, or fills the masks of a text.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "app/command.h"
#include "app/completion.h"
#include "app/sampling_flags.h"
#include "app/terminal.h"
#include "base/seconds_since.h"
#include "inference/model_text.h"
#include "text/unknown_words.h"

namespace limpid {
namespace {

// Texts in their order: one alone is shown while it is written, several when they and those before them are done.
class Writer {
 public:
  Writer(const CompleteOptions& options, const LoadedModel& loaded)
      : options_(options), loaded_(loaded), engine_(*loaded.model, engine_options(options)) {}

  void run() {
    const std::vector<std::string> prompts = read_prompts(options_, options_.lines);
    const size_t count = prompts.size() * static_cast<size_t>(options_.samples);
    stream_ = count == 1 && !options_.json;
    results_.resize(count);
    const auto deadline = deadline_of(options_);
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string& prompt : prompts)
      for (int64_t sample = 0; sample < options_.samples; ++sample)
        add(prompt, static_cast<uint64_t>(sample), deadline);
    if (stream_ && options_.echo) show(prompts[0]);
    do {
      for (; next_ < count && results_[next_]; ++next_) write(prompts[next_ / static_cast<size_t>(options_.samples)]);
    } while (engine_.step() || next_ < count);
    show("");
    tell_speed(seconds_since(begin));
  }

 private:
  // For somebody who watches.
  void tell_speed(double seconds) const {
    if (isatty(STDERR_FILENO) != 1 || options_.json || seconds <= 0) return;
    size_t tokens = 0;
    for (const auto& result : results_) tokens += result->tokens.size();
    fmt::print(stderr, "{} tokens in {:.2f} s: {:.0f} tokens/s\n", tokens, seconds,
               static_cast<double>(tokens) / seconds);
  }

  void add(const std::string& prompt, uint64_t sample, std::optional<Engine::Clock::time_point> deadline) {
    if (sample == 0 && loaded_.config().continues_text())
      for (const std::string& note : unknown_word_notes(loaded_.reader(), prompt))
        fmt::print(stderr, "limpid complete: {}\n", note);
    CompletionRequest request{.ids = input_ids(loaded_, prompt), .sample = sample};
    request.options = options_for(options_, loaded_, std::ssize(request.ids));
    prompt_tokens_.push_back(request.ids.size());
    if (stream_)
      request.listener = [](const CompletionPart& part) {
        show(part.text);
        return true;
      };
    const size_t place = added_++;
    engine_.add(make_completion(loaded_.config(), loaded_.writer(), std::move(request),
                                [this, place](Completion completion) { results_[place] = std::move(completion); }),
                deadline);
  }

  void write(const std::string& prompt) {
    const Completion& result = *results_[next_];
    const Tokenizer& tokenizer = loaded_.writer();
    if (options_.json) {
      const auto sample = static_cast<uint64_t>(next_ % static_cast<size_t>(options_.samples));
      fmt::print("{}\n",
                 one_line(completion_json(tokenizer, {prompt, options_.completion.seed, sample, prompt_tokens_[next_]},
                                          result, options_.echo, options_.log_probabilities > 0)));
      return show("");
    }
    if (!stream_) fmt::print("==> {} <==\n{}{}", next_ + 1, options_.echo ? prompt : "", result.text);
    show("\n");
    tell(options_, tokenizer, result, results_.size() > 1 ? fmt::format("text {}: ", next_ + 1) : "");
  }

  const CompleteOptions& options_;
  const LoadedModel& loaded_;
  Engine engine_;
  bool stream_ = false;
  std::vector<size_t> prompt_tokens_;
  std::vector<std::optional<Completion>> results_;
  size_t added_ = 0, next_ = 0;  // next_: the first that is not written
};

void add_options(CommandLine& line, CompleteOptions& options) {
  CompletionOptions& completion = options.completion;
  line.add_option("MODEL", options.model, "a model's folder, or a file it can be read from")->required();
  line.add_option("PROMPTS", options.prompts, "prompts to continue (none: --text or the standard input)");
  line.add_option("--text", options.file, "read the prompt from this file, plain or gzip");
  line.add_flag("--lines", options.lines, "every line of the input is a prompt of its own (else all of it is one)");
  line.add_option("-n,--max-tokens", completion.max_tokens, "most tokens to write")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  add_sampling_flags(line, completion.sampling);
  add_repetition_flag(line, completion.rules);
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
  line.add_option("--logprobs", options.log_probabilities,
                  "show every token's log-probability, and so many of the likeliest tokens in its place; of masks, how "
                  "many to show")
      ->check(CLI::Range(0, 1000));
  line.add_option("--batch-size", options.max_batch,
                  "texts side by side at most; of more than that each thread takes as many")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  add_memory_flag(line, options.memory);
  line.add_option("--time-limit", options.seconds, "end what is not done after so many seconds (0: never)")
      ->check(CLI::Range(0.0, 1e9));
  line.add_flag("--json", options.json, "print JSON, one object per line");
}

}  // namespace

int run_complete(int argc, char** argv) {
  CommandLine line("complete", "Continues a prompt, token by token; with an encoder model, fills its masks.",
                   "limpid complete MODEL \"Once upon a time\" --temperature 0.7 --max-tokens 100");
  CompleteOptions options;
  options.completion.sampling = usual_sampling();
  add_options(line, options);
  if (const auto code = line.read(argc, argv)) return *code;
  options.completion.top = std::max<int64_t>(options.log_probabilities, 0);
  options.completion.slide = !options.stop_at_context;
  const LoadedModel loaded = load_model(options.model);
  for (const std::string& note : loaded.config().notes) fmt::print(stderr, "limpid complete: {}\n", note);
  check(!loaded.config().has_source(), "[complete] a model of type \"{}\" translates: use {} translate",
        loaded.config().model_type, program_name());
  if (!loaded.config().writes()) {
    fill_masks_of(options, loaded);
    return 0;
  }
  options.request = asked_of(line, options.completion.sampling, options.completion.rules);
  options.request.max_tokens = given(line, "--max-tokens", options.completion.max_tokens);
  if (line.count("--seed") == 0 && options_for(options, loaded, 0).sampling.temperature > 0) {
    options.completion.seed = std::random_device{}();
    if (!options.json) fmt::print(stderr, "limpid complete: --seed {}\n", options.completion.seed);
  }
  Writer(options, loaded).run();
  return 0;
}

}  // namespace limpid
