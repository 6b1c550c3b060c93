#include "server/translation.h"

#include <algorithm>
#include <deque>

#include "base/cancellation.h"
#include "inference/request_options.h"
#include "inference/text_translator.h"
#include "server/html_text.h"
#include "text/utf8.h"

namespace limpid {
namespace {

constexpr size_t kMostLines = 10000;  // of a request

// Spaces of ASCII, and the one that does not break.
constexpr std::string_view kBlanks[] = {" ", "\t", "\r", "\v", "\f", "\u00A0"};

size_t blanks_at_begin(std::string_view line) {
  size_t length = 0;
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view blank : kBlanks)
      if (line.substr(length).starts_with(blank)) {
        length += blank.size();
        found = true;
      }
  }
  return length;
}

size_t blanks_at_end(std::string_view line) {
  size_t length = 0;
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view blank : kBlanks)
      if (line.substr(0, line.size() - length).ends_with(blank)) {
        length += blank.size();
        found = true;
      }
  }
  return length;
}

// Parts of a text in their order: what is translated, and what stays between.
struct Part {
  std::string fixed;               // as it is
  TranslatedText* line = nullptr;  // or what is translated
  bool html = false;
};

class Translation {
 public:
  Translation(const ServedModel& model, const TranslationCall& call)
      : call_(call),
        translator_(model.loaded(), merged_translation({}, model.loaded().generation,
                                                       {.generate = {.beam = 4, .n_best = call.alternatives + 1},
                                                        .most_written = call.limits.output_tokens})) {}

  // What writes the translations, and keeps the owner of this alive until it is done or dropped. done() is called when
  // all is written, ended() with how each part ended.
  std::vector<std::unique_ptr<GenerationTask>> start(std::shared_ptr<const void> owner,
                                                     const std::function<void()>& done,
                                                     const std::function<void(FinishReason)>& ended) {
    owner_ = std::move(owner);
    try {
      for (const std::string& text : call_.texts) split(text);
    } catch (...) {  // what was begun holds its owner, and with it itself
      tasks_.clear();
      lines_.clear();
      owner_.reset();
      throw;
    }
    owner_.reset();
    open_ = std::count_if(lines_.begin(), lines_.end(), [](const TranslatedText& line) { return line.open > 0; });
    for (TranslatedText& line : lines_) {
      line.done = [this, done] {
        if (--open_ == 0) done();
      };
      line.ended = ended;
    }
    return std::move(tasks_);
  }

  Translated joined() const {
    Translated result;
    for (const TranslatedText& line : lines_)
      for (const TranslatedPart& part : line.parts) {
        result.tokens_read += std::ssize(part.source);
        for (const Hypothesis& written : part.results) result.tokens_written += std::ssize(written.ids);
      }
    for (const std::vector<Part>& parts : texts_) {
      auto& versions = result.texts.emplace_back();
      for (int64_t version = 0; version <= call_.alternatives; ++version) {
        std::string text;
        for (const Part& part : parts) text += part.line ? written(part, static_cast<size_t>(version)) : part.fixed;
        if (version == 0 || text != versions[0]) versions.push_back(std::move(text));
      }
    }
    return result;
  }

 private:
  std::vector<Part>& parts() { return texts_.back(); }

  void split(const std::string& text) {
    texts_.emplace_back();
    tokens_ = 0;
    if (call_.html)
      split_html(text);
    else
      split_lines(text, false);
  }

  void split_html(std::string_view html) {
    for (HtmlPart& part : html_parts(html)) {
      if (part.stays)
        parts().push_back({.fixed = std::move(part.text)});
      else
        split_lines(part.text, true);
    }
  }

  void split_lines(std::string_view text, bool html) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      add_line(text.substr(0, end), html);
      if (end < text.size()) parts().push_back({.fixed = "\n"});
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  // White space around what is translated stays.
  void add_line(std::string_view line, bool html) {
    const size_t begin = blanks_at_begin(line);
    const size_t end = line.size() - blanks_at_end(line.substr(begin));
    parts().push_back({.fixed = std::string(line.substr(0, begin))});
    if (begin < end) {
      check_cancelled();
      if (lines_.size() == kMostLines)
        throw HttpError(400, fmt::format("Invalid request: {} lines are allowed at once", kMostLines));
      TranslatedText& text = lines_.emplace_back();
      text.owner = owner_;
      for (auto& task : translator_.start(line.substr(begin, end - begin), text)) tasks_.push_back(std::move(task));
      text.owner.reset();
      tokens_ += text.source_tokens;
      const int64_t most = call_.limits.prompt_tokens;
      if (most > 0 && tokens_ > most)
        throw HttpError(400, fmt::format("Invalid request: a text has more than the {} tokens allowed", most));
      parts().push_back({.line = &text, .html = html});
    }
    parts().push_back({.fixed = std::string(line.substr(end))});
  }

  std::string written(const Part& part, size_t version) const {
    std::string text = repaired_utf8(translator_.text_of(*part.line, version));
    return part.html ? html_escaped(text) : text;
  }

  TranslationCall call_;
  TextTranslator translator_;
  std::vector<std::vector<Part>> texts_;
  std::deque<TranslatedText> lines_;  // stay where they are
  std::vector<std::unique_ptr<GenerationTask>> tasks_;
  std::shared_ptr<const void> owner_;  // while tasks are made
  int64_t open_ = 0;
  int64_t tokens_ = 0;  // of the text that is split
};

}  // namespace

int64_t translate_texts(const ServedModel& model, const TranslationCall& call, std::function<void(Translated)> done,
                        std::function<void(const HttpError& error)> failed) {
  struct State {
    Translation translation;
    bool over = false;
    std::function<void(Translated)> done;
    std::function<void(const HttpError&)> failed;
  };
  const auto state =
      std::make_shared<State>(State{Translation(model, call), false, std::move(done), std::move(failed)});
  EngineService::Job job;
  job.deadline = call.deadline;
  job.texts = state->translation.start(
      state,
      [state = state.get()] {
        if (!std::exchange(state->over, true)) state->done(state->translation.joined());
      },
      [state = state.get()](FinishReason reason) {
        if (reason == FinishReason::cancelled) state->over = true;
        if (reason == FinishReason::deadline && !std::exchange(state->over, true))
          state->failed(HttpError(408, "The request took longer than is allowed."));
      });
  if (job.texts.empty()) {
    state->done(state->translation.joined());
    return -1;
  }
  job.failed = [state](const HttpError& error) {
    if (!std::exchange(state->over, true)) state->failed(error);
  };
  return model.writer().submit(std::move(job));
}

}  // namespace limpid
