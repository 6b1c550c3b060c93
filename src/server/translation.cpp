#include "server/translation.h"

#include "inference/decoder_state.h"
#include "inference/model_text.h"
#include "inference/request_options.h"
#include "text/sentence_splitter.h"
#include "text/utf8.h"

namespace limpid {
namespace {

constexpr int64_t kSplitAbove = 128;  // tokens; a longer line is translated sentence by sentence

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
    {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&nbsp;", " "}, {"&amp;", "&"}};

std::string without_entities(std::string text) {
  for (const auto& [entity, character] : kEntities) text = replaced(std::move(text), entity, character);
  return text;
}

std::string with_entities(std::string text) {
  text = replaced(std::move(text), "&", "&amp;");
  text = replaced(std::move(text), "<", "&lt;");
  return replaced(std::move(text), ">", "&gt;");
}

// Parts of a text in their order: what is translated, and what stays between.
struct Part {
  std::string fixed;              // as it is
  std::vector<size_t> sentences;  // or the numbers of its sentences in the job
  bool html = false;
};

class Translation {
 public:
  Translation(const ServedModel& model, const TranslationCall& call) : model_(model), call_(call) {
    const int64_t positions = most_positions(model.config());
    longest_ = std::min<int64_t>(positions, int64_t{1} << 20);
    for (const std::string& text : call.texts) {
      texts_.emplace_back();
      if (call.html)
        split_html(text);
      else
        split_lines(text, false);
    }
  }

  const std::vector<std::vector<int32_t>>& sources() const { return sources_; }

  void take(size_t sentence, std::vector<Hypothesis> hypotheses) { results_[sentence] = std::move(hypotheses); }

  Translations joined() const {
    Translations result;
    for (const std::vector<Part>& parts : texts_) {
      auto& versions = result.emplace_back();
      for (int64_t version = 0; version <= call_.alternatives; ++version) {
        std::string text;
        for (const Part& part : parts) text += part.sentences.empty() ? part.fixed : written(part, version);
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
      split_lines(without_entities(std::string(text.substr(0, open))), true);
      text.remove_prefix(open);
      const size_t close = std::min(text.find('>'), text.size());
      parts().push_back({.fixed = std::string(text.substr(0, close + 1))});
      text.remove_prefix(std::min(close + 1, text.size()));
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
      Part part{.html = html};
      for (auto& source : split(line.substr(begin, end - begin))) {
        part.sentences.push_back(sources_.size());
        sources_.push_back(std::move(source));
        results_.emplace_back();
      }
      parts().push_back(std::move(part));
    }
    parts().push_back({.fixed = std::string(line.substr(end))});
  }

  std::vector<std::vector<int32_t>> split(std::string_view line) const {
    const auto ids = [&](std::string_view text) { return input_ids(model_.loaded(), text); };
    const auto fits = [&](std::string_view text) { return std::ssize(ids(text)) <= longest_; };
    std::vector<int32_t> all = ids(line);
    if (std::ssize(all) <= std::min(kSplitAbove, longest_)) return {std::move(all)};
    std::vector<std::vector<int32_t>> result;
    for (const std::string_view sentence : split_sentences(line))
      for (const std::string_view piece :
           fits(sentence) ? std::vector<std::string_view>{sentence} : split_to_fit(sentence, fits))
        result.push_back(ids(piece));
    return result;
  }

  std::string written(const Part& part, int64_t version) const {
    std::vector<std::string> sentences;
    for (const size_t sentence : part.sentences) {
      const std::vector<Hypothesis>& found = results_[sentence];
      if (found.empty()) continue;
      const Hypothesis& chosen = found[std::min(static_cast<size_t>(version), found.size() - 1)];
      sentences.push_back(model_.loaded().tokenizers.target->decode(chosen.ids));
    }
    std::string text = repaired_utf8(join_sentences(sentences));
    return part.html ? with_entities(std::move(text)) : text;
  }

  const ServedModel& model_;
  const TranslationCall call_;
  int64_t longest_;
  std::vector<std::vector<Part>> texts_;
  std::vector<std::vector<int32_t>> sources_;  // by sentence
  std::vector<std::vector<Hypothesis>> results_;
};

}  // namespace

int64_t translate_texts(const ServedModel& model, const TranslationCall& call, std::function<void(Translations)> done,
                        std::function<void(const std::string& message, bool late)> failed) {
  struct State {
    Translation translation;
    size_t open;
    bool over;
    std::function<void(Translations)> done;
    std::function<void(const std::string&, bool)> failed;
  };
  const auto state =
      std::make_shared<State>(State{Translation(model, call), 0, false, std::move(done), std::move(failed)});
  const auto& sources = state->translation.sources();
  state->open = sources.size();
  if (sources.empty()) {
    state->done(state->translation.joined());
    return -1;
  }
  const GenerateOptions options =
      merged_search({}, model.loaded().generation, {.beam = 4, .n_best = call.alternatives + 1});
  EngineService::Job job;
  job.deadline = call.deadline;
  job.failed = [state](const std::string& message) {
    if (!std::exchange(state->over, true)) state->failed(message, false);
  };
  for (size_t i = 0; i < sources.size(); ++i)
    job.texts.push_back(make_search(model.config(), sources[i], {}, options, [state, i](SearchResult result) {
      if (result.ending == FinishReason::cancelled) return;
      if (result.ending == FinishReason::deadline) {
        if (!std::exchange(state->over, true)) state->failed("The request took longer than is allowed.", true);
        return;
      }
      state->translation.take(i, std::move(result.hypotheses));
      if (--state->open == 0 && !std::exchange(state->over, true)) state->done(state->translation.joined());
    }));
  return model.writer().submit(std::move(job));
}

}  // namespace limpid
