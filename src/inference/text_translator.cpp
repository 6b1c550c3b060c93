#include "inference/text_translator.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "inference/decoder_state.h"
#include "text/sentence_splitter.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

void arrived(TranslatedText& text, FinishReason reason) {
  --text.open;
  if (text.ended) text.ended(reason);
  if (text.open == 0 && text.done) text.done();
}

}  // namespace

size_t TranslatedText::choices() const {
  size_t most = 1;
  for (const TranslatedPart& part : parts) most = std::max(most, part.results.size());
  return most;
}

TextTranslator::TextTranslator(const LoadedModel& loaded, const TextTranslatorOptions& options)
    : loaded_(loaded),
      options_(options),
      around_(special_count(loaded)),
      most_tokens_(most_positions(loaded.config()) - around_.before - around_.after) {
  check(loaded.tokenizers.stated || loaded.reader().special().end >= 0,
        "[translate] the source tokenizer has no end token: its vocabulary lacks \"</s>\"");
  if (!options.prefix.empty()) prefix_ = loaded.writer().encode(options.prefix);
}

// The text as it is, or in sentences where it is long, and these in parts where they are longer than the model reads.
std::vector<std::vector<int32_t>> TextTranslator::split(std::string_view text, TranslatedText& into) const {
  const Tokenizer& tokenizer = loaded_.reader();
  std::vector<int32_t> all = tokenizer.encode(text);
  into.source_tokens = std::ssize(all);
  if (all.empty()) return {};
  if (into.source_tokens <= split_above()) return {std::move(all)};
  const auto fits = [&](std::string_view part) { return std::ssize(tokenizer.encode(part)) <= most_tokens_; };
  std::vector<std::vector<int32_t>> parts;
  for (const std::string_view sentence : split_sentences(text)) {
    if (fits(sentence)) {
      parts.push_back(tokenizer.encode(sentence));
      continue;
    }
    const auto pieces = split_to_fit(sentence, fits);
    into.cut.push_back(pieces.size());
    for (const std::string_view piece : pieces) parts.push_back(tokenizer.encode(piece));
  }
  std::erase_if(parts, [](const std::vector<int32_t>& ids) { return ids.empty(); });
  return parts;
}

int64_t TextTranslator::most_tokens_for(const TranslatedPart& part) const {
  const int64_t most = longest_target(loaded_.config(), options_.generate, std::ssize(part.source));
  return std::max<int64_t>(1, options_.most_written > 0 ? std::min(options_.most_written, most) : most);
}

std::unique_ptr<GenerationTask> TextTranslator::search(TranslatedText& into, size_t part) const {
  into.open += 1;
  GenerateOptions generate = options_.generate;
  generate.max_tokens = most_tokens_for(into.parts[part]);
  return make_search(loaded_.config(), into.parts[part].source, part == 0 ? prefix_ : std::vector<int32_t>(), generate,
                     [&into, part, owner = into.owner](SearchResult result) {
                       into.parts[part].results = std::move(result.hypotheses);
                       arrived(into, result.finish_reason);
                     });
}

std::unique_ptr<GenerationTask> TextTranslator::draw(TranslatedText& into, size_t part, size_t sample) const {
  TranslatedPart& drawn = into.parts[part];
  CompletionRequest request{.ids = drawn.source, .options = options_.drawing, .sample = sample};
  if (part == 0) request.prefix = prefix_;
  request.options.max_tokens = most_tokens_for(drawn);
  into.open += 1;
  return make_completion(loaded_.config(), loaded_.writer(), std::move(request),
                         [this, &into, part, sample, owner = into.owner](const Completion& completion) {
                           Hypothesis& hypothesis = into.parts[part].results[sample];
                           for (const GeneratedToken& token : completion.tokens) hypothesis.ids.push_back(token.id);
                           hypothesis.log_probability = completion.log_probability;
                           hypothesis.score = normalised(completion.log_probability, completion.tokens.size());
                           arrived(into, completion.finish_reason);
                         });
}

std::vector<std::unique_ptr<GenerationTask>> TextTranslator::start(std::string_view text, TranslatedText& into) const {
  for (const auto& ids : split(text, into)) into.parts.push_back({wrapped(loaded_, ids)});
  std::vector<std::unique_ptr<GenerationTask>> tasks;
  for (size_t part = 0; part < into.parts.size(); ++part) {
    if (!options_.sample) {
      tasks.push_back(search(into, part));
      continue;
    }
    into.parts[part].results.resize(static_cast<size_t>(options_.generate.n_best));
    for (size_t sample = 0; sample < into.parts[part].results.size(); ++sample)
      tasks.push_back(draw(into, part, sample));
  }
  return tasks;
}

double TextTranslator::normalised(double log_probability, size_t tokens) const {
  return log_probability / std::pow(static_cast<double>(tokens + 1), options_.generate.length_penalty);
}

Hypothesis TextTranslator::whole(const TranslatedText& text, size_t choice) const {
  Hypothesis sum;
  for (const TranslatedPart& part : text.parts) {
    const Hypothesis& one = part.choice(choice);
    if (text.parts.size() == 1) return one;
    sum.ids.insert(sum.ids.end(), one.ids.begin(), one.ids.end());
    sum.log_probability += one.log_probability;
  }
  if (!text.parts.empty()) sum.score = normalised(sum.log_probability, sum.ids.size());
  return sum;
}

std::string TextTranslator::text_of(const TranslatedText& text, size_t choice) const {
  std::vector<std::string> texts;
  for (const TranslatedPart& part : text.parts) texts.push_back(loaded_.writer().decode(part.choice(choice).ids));
  return join_sentences(texts);
}

Alignment TextTranslator::aligned(const TranslatedPart& part, size_t choice, const AlignmentOptions& which) const {
  std::vector<int32_t> target = part.choice(choice).ids;
  target.push_back(end_token(loaded_));
  return align(*loaded_.model, {&part.source, 1}, {&target, 1}, which).at(0);
}

std::string TextTranslator::links(const TranslatedText& text, size_t choice, const AlignmentOptions& which) const {
  std::string links;
  int64_t source = 0, target = 0;
  for (const TranslatedPart& part : text.parts) {
    for (const auto& [from, to] : hard_links(aligned(part, choice, which)))
      if (from >= around_.before)
        links += fmt::format("{}{}-{}", links.empty() ? "" : " ", source + from - around_.before, target + to);
    source += std::ssize(part.source) - around_.before - around_.after;
    target += std::ssize(part.choice(choice).ids);
  }
  return links;
}

Json TextTranslator::alignment_json(const TranslatedPart& part, size_t choice, const AlignmentOptions& which) const {
  const auto pieces = [](const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
    Json result = Json::array();
    for (const int32_t id : ids) result.push_back(tokenizer.piece(id));
    return result;
  };
  const Alignment weights = aligned(part, choice, which);
  Json pairs = Json::array();
  for (const auto& [from, to] : hard_links(weights)) pairs.push_back({from, to});
  return {{"source_tokens", pieces(loaded_.reader(), part.source)},
          {"target_tokens", pieces(loaded_.writer(), part.choice(choice).ids)},
          {"links", pairs},
          {"weights", weights}};
}

Json TextTranslator::json(const TranslatedText& text, const AlignmentOptions* which) const {
  Json translations = Json::array();
  for (size_t choice = 0; choice < text.choices(); ++choice) {
    const Hypothesis hypothesis = whole(text, choice);
    translations.push_back({{"text", text_of(text, choice)},
                            {"score", hypothesis.score},
                            {"log_probability", hypothesis.log_probability},
                            {"tokens", hypothesis.ids.size()}});
    if (!which) continue;
    Json parts = Json::array();
    for (const TranslatedPart& part : text.parts) parts.push_back(alignment_json(part, choice, *which));
    translations.back()["alignment"] = parts.size() == 1 ? parts[0] : parts;
  }
  return translations;
}

}  // namespace limpid
