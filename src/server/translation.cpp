#include "server/translation.h"

#include <algorithm>
#include <charconv>
#include <deque>

#include "inference/request_options.h"
#include "inference/text_translator.h"
#include "server/http.h"
#include "text/utf8.h"

namespace limpid {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

constexpr std::pair<std::string_view, char32_t> kEntities[] = {
    {"lt", '<'},  {"gt", '>'},       {"quot", '"'},     {"apos", '\''},    {"nbsp", ' '},
    {"amp", '&'}, {"ndash", 0x2013}, {"mdash", 0x2014}, {"hellip", 0x2026}};

// The character of "lt", "#39" or "#x27", if it is one.
std::optional<char32_t> character_of(std::string_view entity) {
  for (const auto& [name, character] : kEntities)
    if (entity == name) return character;
  if (!entity.starts_with('#')) return std::nullopt;
  entity.remove_prefix(1);
  const bool hexadecimal = entity.starts_with('x') || entity.starts_with('X');
  if (hexadecimal) entity.remove_prefix(1);
  uint32_t number = 0;
  const char* const last = entity.data() + entity.size();
  const auto [end, error] = std::from_chars(entity.data(), last, number, hexadecimal ? 16 : 10);
  const bool is_character = number > 0 && number < 0x110000 && (number < 0xD800 || number > 0xDFFF);
  return error == std::errc() && end == last && is_character ? std::optional<char32_t>(number) : std::nullopt;
}

std::string without_entities(std::string_view text) {
  constexpr size_t kLongest = 10;
  std::string result;
  while (!text.empty()) {
    const size_t begin = std::min(text.find('&'), text.size());
    result += text.substr(0, begin);
    text.remove_prefix(begin);
    const size_t end = text.substr(0, kLongest).find(';');
    const auto character = end == std::string_view::npos ? std::nullopt : character_of(text.substr(1, end - 1));
    if (character) append_utf8(result, *character);
    if (!character) result += text.substr(0, 1);  // the "&" itself
    text.remove_prefix(character ? end + 1 : std::min<size_t>(1, text.size()));
  }
  return result;
}

std::string with_entities(std::string text) {
  text = replaced(std::move(text), "&", "&amp;");
  text = replaced(std::move(text), "<", "&lt;");
  return replaced(std::move(text), ">", "&gt;");
}

// How much of a text that begins with "<" is nothing to translate: a tag, a comment, a script or a style with its
// content.
size_t markup_length(std::string_view text) {
  const auto after = [&](std::string_view end, size_t from) {
    const auto same = [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); };
    const auto found =
        std::search(text.begin() + static_cast<ptrdiff_t>(from), text.end(), end.begin(), end.end(), same);
    return found == text.end() ? text.size() : static_cast<size_t>(found - text.begin()) + end.size();
  };
  if (text.starts_with("<!--")) return after("-->", 4);
  const size_t tag = after(">", 0);
  const std::string name = lower(text.substr(0, std::min(text.find_first_of(" \t\r\n/>"), tag)));
  if (name == "<script" || name == "<style") return after("</" + name.substr(1) + ">", tag);
  return tag;
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
                                                       {.generate = {.beam = 4, .n_best = call.alternatives + 1}})) {}

  // What writes the translations, and keeps the owner of this alive until it is done or dropped. done() is called when
  // all is written, ended() with how each part ended.
  std::vector<std::unique_ptr<GenerationTask>> start(std::shared_ptr<const void> owner,
                                                     const std::function<void()>& done,
                                                     const std::function<void(FinishReason)>& ended) {
    owner_ = std::move(owner);
    for (const std::string& text : call_.texts) {
      texts_.emplace_back();
      if (call_.html)
        split_html(text);
      else
        split_lines(text, false);
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

  void split_html(std::string_view text) {
    while (!text.empty()) {
      const size_t open = std::min(text.find('<'), text.size());
      split_lines(without_entities(text.substr(0, open)), true);
      text.remove_prefix(open);
      const size_t markup = markup_length(text);
      parts().push_back({.fixed = std::string(text.substr(0, markup))});
      text.remove_prefix(markup);
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
    static constexpr std::string_view kBlank = " \t\r\v\f";
    const size_t begin = std::min(line.find_first_not_of(kBlank), line.size());
    const size_t end = begin == line.size() ? begin : line.find_last_not_of(kBlank) + 1;
    parts().push_back({.fixed = std::string(line.substr(0, begin))});
    if (begin < end) {
      TranslatedText& text = lines_.emplace_back();
      text.owner = owner_;
      for (auto& task : translator_.start(line.substr(begin, end - begin), text)) tasks_.push_back(std::move(task));
      text.owner.reset();
      parts().push_back({.line = &text, .html = html});
    }
    parts().push_back({.fixed = std::string(line.substr(end))});
  }

  std::string written(const Part& part, size_t version) const {
    std::string text = repaired_utf8(translator_.text_of(*part.line, version));
    return part.html ? with_entities(std::move(text)) : text;
  }

  TranslationCall call_;
  TextTranslator translator_;
  std::vector<std::vector<Part>> texts_;
  std::deque<TranslatedText> lines_;  // stay where they are
  std::vector<std::unique_ptr<GenerationTask>> tasks_;
  std::shared_ptr<const void> owner_;  // while tasks are made
  int64_t open_ = 0;
};

}  // namespace

int64_t translate_texts(const ServedModel& model, const TranslationCall& call, std::function<void(Translated)> done,
                        std::function<void(const std::string& message, bool late)> failed) {
  struct State {
    Translation translation;
    bool over = false;
    std::function<void(Translated)> done;
    std::function<void(const std::string&, bool)> failed;
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
          state->failed("The request took longer than is allowed.", true);
      });
  if (job.texts.empty()) {
    state->done(state->translation.joined());
    return -1;
  }
  job.failed = [state](const std::string& message) {
    if (!std::exchange(state->over, true)) state->failed(message, false);
  };
  return model.writer().submit(std::move(job));
}

}  // namespace limpid
