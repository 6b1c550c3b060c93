// limpid complete: goes on with a prompt, or fills the masks of a text.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <random>

#include "app/command.h"
#include "app/input_lines.h"
#include "app/sampling_flags.h"
#include "inference/complete.h"
#include "inference/fill_mask.h"
#include "inference/model_text.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

struct CompleteOptions {
  std::string model;
  std::vector<std::string> prompts;
  std::string file;
  bool lines = false, interactive = false, echo = false, json = false, stop_at_context = false;
  int64_t log_probabilities = -1;  // likeliest tokens shown; -1: no log-probabilities
  int64_t samples = 1, texts_at_once = 16;
  CompletionOptions completion;
};

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json top_json(const Tokenizer& tokenizer, const std::vector<TokenScore>& top) {
  Json result = Json::array();
  for (const TokenScore& token : top)
    result.push_back({{"id", token.id},
                      {"token", tokenizer.piece(token.id)},
                      {"log_probability", static_cast<double>(token.log_probability)}});
  return result;
}

void flush() { check(std::fflush(stdout) == 0, "[complete] the output cannot be written: is the disk full?"); }

// The whole input as one prompt, without the end of its last line; or a prompt a line.
std::vector<std::string> read_prompts(const CompleteOptions& options) {
  if (!options.prompts.empty()) return options.prompts;
  InputLines input(options.file.empty() ? std::vector<std::string>{} : std::vector<std::string>{options.file});
  std::vector<std::string> lines;
  while (auto line = input.next()) lines.push_back(std::move(*line));
  if (options.lines) return lines;
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) text += (i > 0 ? "\n" : "") + lines[i];
  return {text};
}

class Writer {
 public:
  Writer(const CompleteOptions& options, const LoadedModel& loaded) : options_(options), loaded_(loaded) {}

  // One text is shown while it is written, several when they are done.
  void run() {
    const std::vector<std::string> prompts = read_prompts(options_);
    std::vector<CompletionRequest> requests;
    for (const std::string& prompt : prompts)
      for (int64_t sample = 0; sample < options_.samples; ++sample)
        requests.push_back({.ids = input_ids(loaded_, prompt),
                            .options = options_.completion,
                            .sample = static_cast<uint64_t>(sample)});
    const bool stream = requests.size() == 1 && !options_.json;
    if (stream) {
      if (options_.echo) fmt::print("{}", prompts[0]);
      requests[0].listener = [](const CompletionPart& part) {
        fmt::print("{}", part.text);
        if (!part.text.empty()) flush();
        return true;
      };
    }
    const auto results =
        complete(*loaded_.model, *loaded_.tokenizers.target, requests, options_.texts_at_once);
    for (size_t i = 0; i < results.size(); ++i) {
      const size_t prompt = i / static_cast<size_t>(options_.samples);
      if (options_.json) {
        fmt::print("{}\n", dumped(to_json(prompts[prompt], requests[i], results[i])));
        continue;
      }
      if (!stream) fmt::print("==> {} <==\n{}{}", i + 1, options_.echo ? prompts[prompt] : "", results[i].text);
      fmt::print("\n");
      tell(results[i], requests.size() > 1 ? fmt::format("text {}: ", i + 1) : "");
    }
    flush();
  }

  // What people are to know besides the text.
  void tell(const Completion& completion, const std::string& which) const {
    if (completion.forgotten > 0)
      fmt::print(stderr,
                 "limpid complete: {}longer than the model's context: its first {} tokens were forgotten on the way\n",
                 which, completion.forgotten);
    if (completion.ending == Ending::context_full)
      fmt::print(stderr, "limpid complete: {}ended because the model's context is full\n", which);
    if (options_.log_probabilities >= 0) show_tokens(completion);
  }

 private:
  void show_tokens(const Completion& completion) const {
    const Tokenizer& tokenizer = *loaded_.tokenizers.target;
    const auto piece = [&](int32_t id) { return Json(tokenizer.piece(id)).dump(-1, ' ', false, Json::error_handler_t::replace); };
    for (const WrittenToken& token : completion.tokens) {
      fmt::print("{:9.4f}  {}", token.log_probability, piece(token.id));
      for (size_t i = 0; i < token.top.size(); ++i)
        fmt::print("{}{} {:.1f} %", i == 0 ? "\t" : ", ", piece(token.top[i].id),
                   100 * std::exp(static_cast<double>(token.top[i].log_probability)));
      fmt::print("\n");
    }
  }

  Json to_json(const std::string& prompt, const CompletionRequest& request, const Completion& completion) const {
    const Tokenizer& tokenizer = *loaded_.tokenizers.target;
    Json tokens = Json::array();
    for (const WrittenToken& token : completion.tokens) {
      tokens.push_back({{"id", token.id},
                        {"token", tokenizer.piece(token.id)},
                        {"log_probability", token.log_probability}});
      if (options_.log_probabilities > 0) tokens.back()["top"] = top_json(tokenizer, token.top);
    }
    Json result = {{"prompt", prompt}, {"text", (options_.echo ? prompt : "") + completion.text},
                   {"ending", name_of(completion.ending)}};
    if (completion.ending == Ending::stop_string) result["stop_string"] = completion.stop_string;
    result.update({{"seed", options_.completion.seed},
                   {"sample", request.sample},
                   {"prompt_tokens", request.ids.size()},
                   {"forgotten_tokens", completion.forgotten},
                   {"log_probability", completion.log_probability},
                   {"tokens", tokens}});
    return result;
  }

  const CompleteOptions& options_;
  const LoadedModel& loaded_;
};

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

// A text that grows in turns: a line is typed, the model goes on, and so forth.
class Conversation {
 public:
  Conversation(const CompleteOptions& options, const LoadedModel& loaded)
      : options_(options), loaded_(loaded), writer_(options, loaded) {}

  void run() {
    fmt::print(stderr,
               "Type a line and the model goes on with it; an empty line lets it go on. /new begins a new text, /quit "
               "or Ctrl-D ends, Ctrl-C interrupts the model.\n");
    std::signal(SIGINT, [](int) { interrupted = true; });
    InputLines input({});
    for (;;) {
      if (isatty(STDIN_FILENO)) fmt::print(stderr, "> ");
      const auto line = input.next();
      if (!line || *line == "/quit") break;
      if (*line == "/new") {
        ids_.clear();
        continue;
      }
      answer(*line);
    }
    std::signal(SIGINT, SIG_DFL);
  }

 private:
  void answer(const std::string& line) {
    if (ids_.empty()) {
      if (line.empty() && loaded_.tokenizers.source->special().begin < 0) return;
      ids_ = input_ids(loaded_, line);
    } else {
      const auto more = loaded_.tokenizers.source->encode(line);
      ids_.insert(ids_.end(), more.begin(), more.end());
    }
    shorten();
    if (options_.echo) fmt::print("{}", line);
    interrupted = false;
    CompletionRequest request{.ids = ids_, .options = options_.completion, .sample = turn_++};
    request.listener = [](const CompletionPart& part) {
      fmt::print("{}", part.text);
      flush();
      return !interrupted;
    };
    const Completion completion = complete(*loaded_.model, *loaded_.tokenizers.target, {&request, 1}).at(0);
    fmt::print("\n");
    flush();
    for (const WrittenToken& token : completion.tokens) ids_.push_back(token.id);
    writer_.tell(completion, "");
  }

  // Only the later half of the context is kept of a text that outgrew it.
  void shorten() {
    const CompletionOptions& completion = options_.completion;
    const int64_t own = loaded_.config().max_positions;
    const int64_t context = completion.context > 0 ? completion.context : own;
    if (context == 0 || static_cast<int64_t>(ids_.size()) <= context) return;
    const auto surplus = static_cast<int64_t>(ids_.size()) - std::max<int64_t>(1, context / 2);
    const int64_t begin = ids_[0] == loaded_.tokenizers.source->special().begin ? 1 : 0;
    ids_.erase(ids_.begin() + begin, ids_.begin() + begin + surplus);
    fmt::print(stderr, "limpid complete: the text outgrew the model's context: its first {} tokens were forgotten\n",
               surplus);
  }

  const CompleteOptions& options_;
  const LoadedModel& loaded_;
  Writer writer_;
  std::vector<int32_t> ids_;
  uint64_t turn_ = 0;
};

// Encoder models: the likeliest tokens of each mask, and the text with the likeliest of all.
void fill(const CompleteOptions& options, const LoadedModel& loaded) {
  const Tokenizer& tokenizer = *loaded.tokenizers.source;
  const int64_t top = options.log_probabilities > 0 ? options.log_probabilities : 5;
  const auto mask = static_cast<int32_t>(loaded.config().mask_token.value_or(tokenizer.special().mask));
  const SpecialIds special = tokenizer.special();
  CompleteOptions by_line = options;
  by_line.lines = true;
  for (const std::string& text : read_prompts(by_line)) {
    std::vector<int32_t> ids = masked_ids(loaded, text);
    const auto masks = fill_masks(*loaded.model, {&ids, 1}, mask, top,
                                  {special.pad, special.unknown, special.begin, special.end, mask}).at(0);
    if (masks.empty()) fmt::print(stderr, "limpid complete: no mask in \"{}\": write {}\n", text, tokenizer.piece(mask));
    for (const FilledMask& filled : masks) ids[filled.position] = filled.top.at(0).id;
    if (options.json) {
      Json all = Json::array();
      for (const FilledMask& filled : masks)
        all.push_back({{"position", filled.position}, {"top", top_json(tokenizer, filled.top)}});
      fmt::print("{}\n", dumped({{"text", text}, {"filled", tokenizer.decode(ids)}, {"masks", all}}));
      continue;
    }
    fmt::print("{}\n", tokenizer.decode(ids));
    for (const FilledMask& filled : masks) {
      for (size_t i = 0; i < filled.top.size(); ++i)
        fmt::print("{}{} {:.1f} %", i == 0 ? "  " : ", ", tokenizer.piece(filled.top[i].id),
                   100 * std::exp(static_cast<double>(filled.top[i].log_probability)));
      fmt::print("\n");
    }
  }
  flush();
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
  line.add_option("--samples", options.samples, "texts for each prompt")->check(CLI::Range(1, 10000))->capture_default_str();
  line.add_option("--stop", completion.stop, "end before this text; may be given several times")->allow_extra_args(false);
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
    fill(options, loaded);
    return 0;
  }
  if (line.count("--seed") == 0 && options.completion.sampling.temperature > 0) {
    options.completion.seed = std::random_device{}();
    if (!options.json) fmt::print(stderr, "limpid complete: --seed {}\n", options.completion.seed);
  }
  if (options.interactive)
    Conversation(options, loaded).run();
  else
    Writer(options, loaded).run();
  return 0;
}

}  // namespace limpid
