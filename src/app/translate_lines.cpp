#include "app/translate_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "inference/decoder_state.h"
#include "inference/model_text.h"
#include "inference/score.h"
#include "text/sentence_splitter.h"

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
      alignment_(alignment_options(options.alignment)),
      most_tokens_(most_positions(loaded.config()) - 1) {
  check(loaded.tokenizers.source->special().end >= 0,
        "[translate] the source tokenizer has no end token: its vocabulary lacks \"</s>\"");
  if (!options.prefix.empty()) prefix_ = loaded.tokenizers.target->encode(options.prefix);
}

// Without the end token.
std::vector<int32_t> LineTranslator::source_ids(std::string_view text) const {
  return loaded_.tokenizers.source->encode(text);
}

// The line as it is, or in sentences where it is long, and these in parts where they are longer than the model reads.
std::vector<std::vector<int32_t>> LineTranslator::split(const Line& line) {
  std::vector<int32_t> all = source_ids(line.text);
  const auto length = static_cast<int64_t>(all.size());
  if (length == 0) return {};
  if (length <= std::min(options_.split_above, most_tokens_)) return {std::move(all)};
  const auto fits = [&](std::string_view text) {
    return static_cast<int64_t>(source_ids(text).size()) <= most_tokens_;
  };
  std::vector<std::vector<int32_t>> parts;
  for (const std::string_view sentence : split_sentences(line.text)) {
    if (fits(sentence)) {
      parts.push_back(source_ids(sentence));
      continue;
    }
    const auto pieces = split_to_fit(sentence, fits);
    fmt::print(stderr,
               "limpid translate: line {} has a sentence longer than the {} tokens that the model reads: it is "
               "translated in {} parts\n",
               line.number, most_tokens_, pieces.size());
    for (const std::string_view piece : pieces) parts.push_back(source_ids(piece));
  }
  std::erase_if(parts, [](const std::vector<int32_t>& ids) { return ids.empty(); });
  if (parts.size() > 1 && !std::exchange(told_split_, true))
    fmt::print(stderr,
               "limpid translate: line {} has {} tokens and is translated sentence by sentence, as all lines longer "
               "than {} (--split-above)\n",
               line.number, length, std::min(options_.split_above, most_tokens_));
  return parts;
}

void LineTranslator::search(Engine& engine, Line& line, size_t part) {
  line.open += 1;
  engine.add(make_search(loaded_.config(), line.parts[part].source, part == 0 ? prefix_ : std::vector<int32_t>(),
                         options_.generate, [&line, part](SearchResult result) {
                           line.parts[part].results = std::move(result.hypotheses);
                           --line.open;
                         }));
}

double LineTranslator::normalised(double log_probability, size_t tokens) const {
  return log_probability / std::pow(static_cast<double>(tokens + 1), options_.generate.length_penalty);
}

// As many draws as translations are asked for, in the order of their numbers.
void LineTranslator::draw(Engine& engine, Line& line, size_t part) {
  Part& drawn = line.parts[part];
  drawn.results.resize(static_cast<size_t>(options_.generate.n_best));
  for (size_t sample = 0; sample < drawn.results.size(); ++sample) {
    CompletionRequest request{.ids = drawn.source, .options = options_.drawing, .sample = sample};
    if (part == 0) request.prefix = prefix_;
    request.options.max_tokens =
        std::max<int64_t>(1, longest_target(loaded_.config(), options_.generate, std::ssize(drawn.source)));
    line.open += 1;
    engine.add(make_completion(loaded_.config(), *loaded_.tokenizers.target, std::move(request),
                               [this, &line, part, sample](const Completion& completion) {
                                 Hypothesis& hypothesis = line.parts[part].results[sample];
                                 for (const WrittenToken& token : completion.tokens) hypothesis.ids.push_back(token.id);
                                 hypothesis.log_probability = completion.log_probability;
                                 hypothesis.score = normalised(completion.log_probability, completion.tokens.size());
                                 --line.open;
                               }));
  }
}

void LineTranslator::accept(Engine& engine, std::string text) {
  Line& line = lines_.emplace_back(Line{.number = ++read_, .text = std::move(text)});
  for (auto& ids : split(line)) {
    ids.push_back(loaded_.tokenizers.source->special().end);
    line.parts.push_back({std::move(ids), {}});
  }
  for (size_t part = 0; part < line.parts.size(); ++part)
    options_.sample ? draw(engine, line, part) : search(engine, line, part);
}

void LineTranslator::translate() {
  Engine engine(*loaded_.model, {.texts_at_once = options_.generate.texts_at_once, .memory = options_.generate.memory});
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
  for (; !lines_.empty() && lines_.front().open == 0; lines_.pop_front()) {
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
      line.parts.push_back({sources[i], {{targets[i], sum, normalised(sum, targets[i].size())}}});
    }
    write_ready();
  }
}

// ---- what comes out

size_t LineTranslator::choices(const Line& line) const {
  size_t most = 1;
  for (const Part& part : line.parts) most = std::max(most, part.results.size());
  return most;
}

// The choice of that rank of every part, or its last one.
Hypothesis LineTranslator::whole(const Line& line, size_t choice) const {
  Hypothesis sum;
  for (const Part& part : line.parts) {
    const Hypothesis& one = part.results.at(std::min(choice, part.results.size() - 1));
    if (line.parts.size() == 1) return one;
    sum.ids.insert(sum.ids.end(), one.ids.begin(), one.ids.end());
    sum.log_probability += one.log_probability;
  }
  if (!line.parts.empty()) sum.score = normalised(sum.log_probability, sum.ids.size());
  return sum;
}

std::string LineTranslator::text_of(const Line& line, size_t choice) const {
  std::vector<std::string> texts;
  for (const Part& part : line.parts)
    texts.push_back(loaded_.tokenizers.target->decode(part.results.at(std::min(choice, part.results.size() - 1)).ids));
  return join_sentences(texts);
}

Alignment LineTranslator::aligned(const Part& part, size_t choice) const {
  std::vector<int32_t> target = part.results.at(std::min(choice, part.results.size() - 1)).ids;
  target.push_back(static_cast<int32_t>(*loaded_.config().eos_token));
  return align(*loaded_.model, {&part.source, 1}, {&target, 1}, alignment_).at(0);
}

// Links as pairs of token numbers, "0-0 1-2": Pharaoh's format. Tokens of later parts are counted on.
std::string LineTranslator::links(const Line& line, size_t choice) const {
  std::string text;
  int64_t source = 0, target = 0;
  for (const Part& part : line.parts) {
    for (const auto& [from, to] : hard_links(aligned(part, choice)))
      text += fmt::format("{}{}-{}", text.empty() ? "" : " ", source + from, target + to);
    source += std::ssize(part.source) - 1;
    target += std::ssize(part.results.at(std::min(choice, part.results.size() - 1)).ids);
  }
  return text;
}

void LineTranslator::write(const Line& line) const {
  if (options_.json) return write_json(line);
  for (size_t choice = 0; choice < choices(line); ++choice) {
    std::string text = text_of(line, choice);
    if (!options_.alignment.empty()) text += '\t' + links(line, choice);
    if (options_.generate.n_best > 1 || options_.score)
      fmt::print("{}\t{:.4f}\t{}\n", line.number, whole(line, choice).score, text);
    else
      fmt::print("{}\n", text);
  }
}

LineTranslator::Json LineTranslator::alignment_json(const Part& part, size_t choice) const {
  const auto pieces = [](const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
    Json result = Json::array();
    for (const int32_t id : ids) result.push_back(tokenizer.piece(id));
    return result;
  };
  const Alignment weights = aligned(part, choice);
  Json pairs = Json::array();
  for (const auto& [from, to] : hard_links(weights)) pairs.push_back({from, to});
  const Hypothesis& hypothesis = part.results.at(std::min(choice, part.results.size() - 1));
  return {{"source_tokens", pieces(*loaded_.tokenizers.source, part.source)},
          {"target_tokens", pieces(*loaded_.tokenizers.target, hypothesis.ids)},
          {"links", pairs},
          {"weights", weights}};
}

void LineTranslator::write_json(const Line& line) const {
  Json translations = Json::array();
  for (size_t choice = 0; choice < choices(line); ++choice) {
    const Hypothesis hypothesis = whole(line, choice);
    translations.push_back({{"text", text_of(line, choice)},
                            {"score", hypothesis.score},
                            {"log_probability", hypothesis.log_probability},
                            {"tokens", hypothesis.ids.size()}});
    if (options_.alignment.empty()) continue;
    Json parts = Json::array();
    for (const Part& part : line.parts) parts.push_back(alignment_json(part, choice));
    translations.back()["alignment"] = parts.size() == 1 ? parts[0] : parts;
  }
  const Json object = {
      {"line", line.number}, {"source", line.text}, {"parts", line.parts.size()}, {"translations", translations}};
  fmt::print("{}\n", object.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace limpid
