// limpid complete --interactive.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>

#include "app/completion.h"
#include "app/input_lines.h"
#include "inference/model_text.h"

namespace limpid {
namespace {

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

class Conversation {
 public:
  Conversation(const CompleteOptions& options, const LoadedModel& loaded)
      : options_(options), loaded_(loaded), engine_(*loaded.model, engine_options(options)) {}

  void begin_anew() { ids_.clear(); }

  void answer(const std::string& line) {
    if (ids_.empty()) {
      ids_ = input_ids(loaded_, line);
    } else {
      const auto more = loaded_.tokenizers.source->encode(line);
      ids_.insert(ids_.end(), more.begin(), more.end());
    }
    shorten();
    if (options_.echo) show(line);
    CompletionRequest request{.ids = ids_, .options = options_.completion, .sample = turn_++};
    request.listener = [](const CompletionPart& part) {
      show(part.text);
      return !interrupted;
    };
    const Interruptible interruptible;
    request.options.max_tokens = most_tokens(options_, loaded_, std::ssize(request.ids));
    Completion completion;
    engine_.add(make_completion(loaded_.config(), *loaded_.tokenizers.target, std::move(request),
                                [&](Completion result) { completion = std::move(result); }),
                deadline_of(options_));
    while (engine_.step()) {
    }
    show("\n");
    for (const WrittenToken& token : completion.tokens) ids_.push_back(token.id);
    tell(options_, *loaded_.tokenizers.target, completion, "");
  }

 private:
  // Of a text that outgrew the context the later half of a context is kept.
  void shorten() {
    const int64_t asked = options_.completion.context, own = loaded_.config().max_positions;
    const int64_t context = asked > 0 ? asked : own;
    if (context == 0 || static_cast<int64_t>(ids_.size()) <= context) return;
    const auto surplus = static_cast<int64_t>(ids_.size()) - std::max<int64_t>(2, context / 2);
    const int64_t begin = ids_[0] == loaded_.tokenizers.source->special().begin ? 1 : 0;
    ids_.erase(ids_.begin() + begin, ids_.begin() + begin + surplus);
    fmt::print(stderr, "limpid complete: the text outgrew the model's context: its first {} tokens were forgotten\n",
               surplus);
  }

  const CompleteOptions& options_;
  const LoadedModel& loaded_;
  Engine engine_;             // remembers the text so far: only what is new is read
  std::vector<int32_t> ids_;  // the text so far
  uint64_t turn_ = 0;
};

}  // namespace

void converse(const CompleteOptions& options, const LoadedModel& loaded) {
  fmt::print(stderr,
             "Type a line and the model goes on with it; an empty line lets it go on. /new begins a new text, /quit or "
             "Ctrl-D ends, Ctrl-C interrupts the model.\n");
  Conversation conversation(options, loaded);
  InputLines input({});
  for (;;) {
    if (isatty(STDIN_FILENO)) fmt::print(stderr, "> ");
    const auto line = input.next();
    if (!line || *line == "/quit") return;
    if (*line == "/new") {
      conversation.begin_anew();
      continue;
    }
    try {
      conversation.answer(*line);
    } catch (const Error& error) {  // one line that does not work is not the end
      fmt::print(stderr, "limpid complete: {}\n", error.what());
      conversation.begin_anew();
    }
  }
}

}  // namespace limpid
