// limpid chat: a conversation in the terminal.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <random>

#include "app/command.h"
#include "app/completion.h"
#include "app/input_lines.h"
#include "app/sampling_flags.h"
#include "base/error.h"
#include "base/json.h"
#include "inference/chat_format.h"
#include "inference/model_text.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal may come at any time

// While it lives, Ctrl-C interrupts the model; before and after, it ends the program.
class Interruptible {
 public:
  Interruptible() {
    interrupted = false;
    before_ = std::signal(SIGINT, [](int) { interrupted = true; });
  }
  ~Interruptible() { std::signal(SIGINT, before_); }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  void (*before_)(int);
};

struct ChatCommandOptions {
  CompleteOptions complete;
  std::string system, variables;
  bool show_prompt = false;
};

// Messages, and the ids the model reads of them. A model without a template continues the bare text of all turns.
class Conversation {
 public:
  Conversation(const ChatCommandOptions& options, const LoadedModel& loaded)
      : options_(options),
        loaded_(loaded),
        engine_(*loaded.model, engine_options(options.complete)),
        format_(ChatFormat::open(options.complete.model)),
        system_(options.system) {
    if (!options.variables.empty()) chat_.extra = parse_ordered_json(options.variables, "[chat] --variables");
    if (!format_)
      fmt::print(stderr,
                 "limpid chat: the model has no chat template: it was not made for talking and continues the text of "
                 "all turns\n");
  }

  bool has_template() const { return format_.has_value(); }
  void begin_anew() {
    turns_.clear();
    plain_.clear();
  }
  void set_system(std::string text) { system_ = std::move(text); }
  bool undo() {
    if (turns_.size() < 2) return false;
    turns_.erase(turns_.end() - 2, turns_.end());
    return true;
  }

  void answer(const std::string& line) {
    if (format_) turns_.push_back({{"role", "user"}, {"content", line}});
    CompletionRequest request{.ids = format_ ? template_ids() : plain_ids(line)};
    request.options = options_for(options_.complete, loaded_, std::ssize(request.ids));
    request.sample = turn_++;
    const size_t prompt_tokens = request.ids.size();
    request.listener = [json = options_.complete.json](const CompletionPart& part) {
      if (!json) show(part.text);
      return !interrupted;
    };
    if (options_.show_prompt && format_) fmt::print(stderr, "{}\n", format_->text(messages(), chat_));
    const Interruptible interruptible;
    const auto begin = std::chrono::steady_clock::now();
    Completion completion;
    engine_.add(make_completion(loaded_.config(), loaded_.writer(), std::move(request),
                                [&](Completion result) { completion = std::move(result); }),
                deadline_of(options_.complete));
    while (engine_.step()) {
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (!options_.complete.json) show("\n");
    if (format_)
      turns_.push_back({{"role", "assistant"}, {"content", completion.text}});
    else
      for (const GeneratedToken& token : completion.tokens) plain_.push_back(token.id);
    if (options_.complete.json)
      return show(one_line(completion_json(loaded_.writer(),
                                           {line, options_.complete.completion.seed, turn_ - 1, prompt_tokens},
                                           completion, false, false)) +
                  '\n');
    tell(options_.complete, loaded_.writer(), completion, "");
    if (isatty(STDERR_FILENO))
      fmt::print(stderr, "({} tokens, {:.1f} tokens/s)\n", completion.tokens.size(),
                 static_cast<double>(completion.tokens.size()) / std::max(seconds.count(), 1e-9));
  }

  // A turn that did not work is taken back.
  void take_back() {
    if (!turns_.empty() && turns_.back()["role"] == "user") turns_.erase(turns_.end() - 1);
  }

 private:
  Json messages() const {
    Json all = Json::array();
    if (!system_.empty()) all.push_back({{"role", "system"}, {"content", system_}});
    all.insert(all.end(), turns_.begin(), turns_.end());
    return all;
  }
  int64_t context() const {
    const int64_t asked = options_.complete.completion.context, own = loaded_.config().max_positions;
    return asked > 0 ? asked : own;
  }

  // Of a conversation that leaves no room for an answer the oldest turns are dropped, question and answer together.
  std::vector<int32_t> template_ids() {
    std::vector<int32_t> ids = format_->ids(loaded_.reader(), messages(), chat_);
    int64_t dropped = 0;
    const int64_t room = context() / 4;
    while (context() > 0 && std::ssize(ids) + room > context() && turns_.size() > 2) {
      turns_.erase(turns_.begin(), turns_.begin() + 2);
      dropped += 2;
      ids = format_->ids(loaded_.reader(), messages(), chat_);
    }
    if (dropped > 0)
      fmt::print(stderr, "limpid chat: the context of {} tokens is full: the oldest {} messages were dropped\n",
                 context(), dropped);
    return ids;
  }

  std::vector<int32_t> plain_ids(const std::string& line) {
    if (plain_.empty()) {
      plain_ = input_ids(loaded_, line);
    } else {
      const auto more = loaded_.reader().encode(line);
      plain_.insert(plain_.end(), more.begin(), more.end());
    }
    if (context() > 0 && std::ssize(plain_) > context()) {
      const auto surplus = std::ssize(plain_) - std::max<int64_t>(2, context() / 2);
      const int64_t begin = plain_[0] == loaded_.reader().special().begin ? 1 : 0;
      plain_.erase(plain_.begin() + begin, plain_.begin() + begin + surplus);
      fmt::print(stderr, "limpid chat: the context of {} tokens is full: the oldest {} tokens were dropped\n",
                 context(), surplus);
    }
    return plain_;
  }

  const ChatCommandOptions& options_;
  const LoadedModel& loaded_;
  Engine engine_;  // remembers the text so far: only what is new is read
  std::optional<ChatFormat> format_;
  std::string system_;
  ChatOptions chat_;
  Json turns_ = Json::array();
  std::vector<int32_t> plain_;  // without a template: the text so far
  uint64_t turn_ = 0;
};

constexpr const char* kHelp =
    "/system TEXT  sets the system prompt and begins anew\n"
    "/undo         takes the last question and its answer back\n"
    "/new          begins a new conversation\n"
    "/help         shows this\n"
    "/quit         ends (or Ctrl-D); Ctrl-C interrupts the model\n";

// Returns false where the conversation is over.
bool obey(Conversation& conversation, const std::string& line) {
  const std::string name = line.substr(0, line.find(' '));
  if (name == "/quit" || name == "/exit") return false;
  if (name == "/new") {
    conversation.begin_anew();
  } else if (name == "/system") {
    conversation.set_system(line.size() > name.size() ? line.substr(name.size() + 1) : "");
    conversation.begin_anew();
  } else if (name == "/undo") {
    if (!conversation.undo()) fmt::print(stderr, "limpid chat: there is nothing to take back\n");
  } else {
    if (name != "/help") fmt::print(stderr, "limpid chat: no command {}\n", in_quotes(name));
    fmt::print(stderr, "{}", kHelp);
  }
  return true;
}

void converse(const ChatCommandOptions& options, const LoadedModel& loaded) {
  Conversation conversation(options, loaded);
  const bool terminal = isatty(STDIN_FILENO) != 0;
  if (terminal) fmt::print(stderr, "Type a message; /help shows the commands.\n");
  InputLines input({}, true);
  for (;;) {
    if (terminal) fmt::print(stderr, "> ");
    const auto line = input.next();
    if (!line) return;
    if (line->starts_with('/')) {
      if (!obey(conversation, *line)) return;
      continue;
    }
    if (line->empty() && conversation.has_template()) continue;
    try {
      conversation.answer(*line);
    } catch (const Error& error) {  // one message that does not work is not the end
      fmt::print(stderr, "limpid chat: {}\n", error.what());
      conversation.take_back();
    }
  }
}

}  // namespace

int run_chat(int argc, char** argv) {
  CommandLine line("chat", "A conversation with a language model, in the words of its own chat template.",
                   "limpid chat MODEL --system \"Answer in one sentence.\"");
  ChatCommandOptions options;
  CompletionOptions& completion = options.complete.completion;
  completion.sampling = usual_sampling();
  line.add_option("MODEL", options.complete.model, "a model's folder, or a .gguf or .bin file")->required();
  line.add_option("--system", options.system, "the system prompt: how the model is to behave");
  line.add_option("--variables", options.variables,
                  "variables for the template, as JSON: {\"enable_thinking\": false}");
  line.add_flag("--show-prompt", options.show_prompt, "show on stderr what the template makes of the conversation");
  line.add_option("-n,--max-tokens", completion.max_tokens, "most tokens per answer")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  add_sampling_flags(line, completion.sampling);
  add_repetition_flag(line, completion.rules);
  line.add_option("--seed", completion.seed, "for the same answers again (else another seed every time)");
  line.add_option("--stop", completion.stop, "end an answer before this text; may be given several times")
      ->allow_extra_args(false);
  line.add_flag("--ignore-end", completion.ignore_end, "go on past the model's own end");
  line.add_option("--context", completion.context, "tokens that the model looks back on (0: what it was made for)")
      ->check(CLI::Range(0, 1 << 30));
  add_memory_flag(line, options.complete.memory);
  line.add_option("--time-limit", options.complete.seconds, "end an answer after so many seconds (0: never)")
      ->check(CLI::Range(0.0, 1e9));
  line.add_flag("--json", options.complete.json, "print JSON, one object per answer and line");
  if (const auto code = line.read(argc, argv)) return *code;
  const LoadedModel loaded = load_model(options.complete.model);
  for (const std::string& note : loaded.config().notes) fmt::print(stderr, "limpid chat: {}\n", note);
  check(loaded.config().continues_text(), "[chat] a model of type \"{}\" does not talk: take a language model",
        loaded.config().model_type);
  options.complete.request = asked_of(line, completion.sampling, completion.rules);
  options.complete.request.max_tokens = given(line, "--max-tokens", completion.max_tokens);
  if (line.count("--seed") == 0 && options_for(options.complete, loaded, 0).sampling.temperature > 0)
    completion.seed = std::random_device{}();
  converse(options, loaded);
  return 0;
}

}  // namespace limpid
