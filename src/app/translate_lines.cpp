#include "app/translate_lines.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "inference/model_text.h"
#include "inference/results_json.h"
#include "inference/score.h"

namespace limpid {
namespace {

// So many lines are read before the first of them is written: enough to keep the model busy behind a long one.
constexpr size_t kLinesAhead = 1024;

// "all", "3" or "3.1".
AlignmentOptions alignment_options(const std::string& text) {
  if (text.empty() || text == "all") return {};
  const size_t point = text.find('.');
  const std::string layer = text.substr(0, point), head = point == text.npos ? "0" : text.substr(point + 1);
  for (const std::string& number : {layer, head})
    check(!number.empty() && number.size() < 6 && number.find_first_not_of("0123456789") == number.npos,
          "[translate] --alignment {}: write \"all\", a layer such as 3, or a layer and a head such as 3.1", text);
  AlignmentOptions options{.layer = std::stol(layer)};
  if (point != text.npos) options.head = std::stol(head);
  return options;
}

}  // namespace

LineTranslator::LineTranslator(const TranslateOptions& options, const LoadedModel& loaded)
    : options_(options),
      loaded_(loaded),
      translator_(loaded, options),
      alignment_(alignment_options(options.alignment)) {}

void LineTranslator::tell_split(const Line& line) {
  for (const size_t pieces : line.translated.cut)
    fmt::print(stderr,
               "limpid translate: line {} has a sentence longer than the {} tokens that the model reads: it is "
               "translated in {} parts\n",
               line.number, translator_.most_tokens(), pieces);
  if (line.translated.parts.size() > 1 && !std::exchange(told_split_, true))
    fmt::print(stderr,
               "limpid translate: line {} has {} tokens and is translated sentence by sentence, as all lines longer "
               "than {} (--split-above)\n",
               line.number, line.translated.source_tokens, translator_.split_above());
}

void LineTranslator::accept(Engine& engine, std::string text) {
  Line& line = lines_.emplace_back(Line{.number = ++read_, .text = std::move(text)});
  auto tasks = translator_.start(line.text, line.translated);
  tell_split(line);
  for (auto& task : tasks) engine.add(std::move(task));
}

void LineTranslator::translate() {
  Engine engine(*loaded_.model, {.max_batch = options_.generate.max_batch, .memory = options_.generate.memory});
  InputLines input(options_.files);
  for (;;) {
    while (lines_.size() < kLinesAhead) {
      auto line = lines_.empty() ? input.next() : input.next_ready();
      if (!line) break;
      accept(engine, std::move(*line));
    }
    if (lines_.empty()) return;
    engine.step();
    write_ready();
  }
}

void LineTranslator::write_ready() {
  bool written = false;
  for (; !lines_.empty() && lines_.front().translated.open == 0; lines_.pop_front()) {
    write(lines_.front());
    written = true;
  }
  if (written) check(std::fflush(stdout) == 0, "[translate] the output cannot be written: is the disk full?");
}

void LineTranslator::score() {
  InputLines input(options_.files);
  constexpr size_t kAtOnce = 256;
  for (;;) {
    const std::vector<std::string> lines = input.next_lines(kAtOnce);
    if (lines.empty()) return;
    std::vector<std::vector<int32_t>> sources, targets;
    for (const std::string& line : lines) {
      const size_t tab = line.find('\t');
      check(tab != std::string::npos,
            "[translate] line {} has no tab: --score takes a source and its translation with a tab between",
            read_ + std::ssize(sources) + 1);
      sources.push_back(input_ids(loaded_, std::string_view(line).substr(0, tab)));
      targets.push_back(target_ids(loaded_, std::string_view(line).substr(tab + 1)));
    }
    const auto scores = score_pairs(*loaded_.model, sources, targets);
    for (size_t i = 0; i < lines.size(); ++i) {
      const double sum = scores[i].log_probability;
      targets[i].pop_back();
      Line& line = lines_.emplace_back(Line{.number = ++read_, .text = lines[i].substr(0, lines[i].find('\t'))});
      line.translated.parts.push_back(
          {sources[i], {{targets[i], sum, translator_.normalised(sum, targets[i].size())}}});
    }
    write_ready();
  }
}

void LineTranslator::write(const Line& line) const {
  if (options_.json) return write_json(line);
  for (size_t choice = 0; choice < line.translated.choices(); ++choice) {
    std::string text = translator_.text_of(line.translated, choice);
    if (!options_.alignment.empty()) text += '\t' + translator_.links(line.translated, choice, alignment_);
    if (options_.generate.n_best > 1 || options_.score)
      fmt::print("{}\t{:.4f}\t{}\n", line.number, translator_.whole(line.translated, choice).score, text);
    else
      fmt::print("{}\n", text);
  }
}

void LineTranslator::write_json(const Line& line) const {
  const nlohmann::ordered_json object = {
      {"line", line.number},
      {"source", line.text},
      {"parts", line.translated.parts.size()},
      {"translations", translator_.json(line.translated, options_.alignment.empty() ? nullptr : &alignment_)}};
  fmt::print("{}\n", one_line(object));
}

}  // namespace limpid
