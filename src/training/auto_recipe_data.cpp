// What the text decides.

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/paths.h"
#include "models/parameter_table.h"
#include "training/auto_recipe.h"
#include "training/model_ladder.h"
#include "training/start_from.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using Kind = OwnText::Kind;

constexpr int64_t kLittleText = 100'000;  // bytes: too few for subwords that a writer could learn from
constexpr int64_t kMuchText = 3'000'000;  // bytes: a language model of this seldom sees a line often
constexpr int64_t kClosedWorld = 4000;    // different words of a text that uses the same ones over and over
constexpr int64_t kUsualLength = 256;     // tokens of an example, that positions are made for
constexpr int64_t kLongest = 1024, kLongestLabelled = 512;  // … where the text has long ones
constexpr int64_t kHeldOut = 2000;                          // lines at most

std::string size_text(int64_t bytes) {
  if (bytes < 1'000'000) return fmt::format("{:.0f} kB", std::ceil(static_cast<double>(bytes) / 1e3));
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::vector<std::string> absolute(const std::vector<std::string>& files) {
  std::vector<std::string> result;
  for (const std::string& file : files) result.push_back(absolute_path(file).string());
  return result;
}

std::string describe_side(const SideSurvey& side) {
  return fmt::format("{}{}", side.script.empty() ? "no letters" : side.script,
                     side.most_characters > 0 ? fmt::format(", half of the lines up to {} characters, 95 % up to {}",
                                                            side.median_characters, side.most_characters)
                                              : "");
}

// Which column of a TSV has the labels: the one with fewer different texts.
bool label_first(const TextSurvey& survey) {
  const SideSurvey &first = survey.sides[0], &second = survey.sides[1];
  return first.distinct_lines != second.distinct_lines ? first.distinct_lines < second.distinct_lines
                                                       : first.characters <= second.characters;
}

// Tokens that 95 % of the lines have at most, roughly: a subword is two and a half bytes of a small vocabulary.
int64_t usual_length(const OwnText& text, const TextSurvey& survey) {
  double most = 0;
  for (const SideSurvey& side : survey.sides) {
    const double bytes = static_cast<double>(side.bytes) * static_cast<double>(survey.sampled) /
                         static_cast<double>(std::max<int64_t>(side.characters * survey.lines, 1));
    const bool letters = text.kind == Kind::text && (text.characters || side.bytes < kLittleText);
    most = std::max(most, static_cast<double>(side.most_characters) * (letters ? 1 : bytes / 2.5));
  }
  return static_cast<int64_t>(most) + 3;  // begin, end, and what a prefix space costs
}

bool is_lines(const OwnText& text, const TextSurvey& survey) {
  if (!text.unit.empty()) return text.unit == "lines";
  const auto words =
      static_cast<double>(survey.sides[0].words) / static_cast<double>(std::max<int64_t>(survey.sampled, 1));
  return (survey.ends_sentence >= 0.9 || words <= 3) && usual_length(text, survey) <= kLongest;
}

// A text that says everything with the same few words, as grammars and logs do.
bool is_closed_world(const SideSurvey& side) {
  return side.distinct_words <= kClosedWorld && side.words > 20 * side.distinct_words &&
         side.single_words * 50 <= side.distinct_words;
}

// Subwords: four for each root of the text's bytes, no more than there are different words, and room for its letters.
int64_t vocabulary_for(const TextSurvey& survey, double minutes) {
  const SideSurvey &a = survey.sides[0], &b = survey.sides[1];
  const auto bytes = static_cast<double>(a.bytes + b.bytes);
  const int64_t letters = std::min<int64_t>(a.distinct_characters + b.distinct_characters, 4000);
  const int64_t words = a.distinct_words + b.distinct_words + letters;
  const auto wanted = static_cast<int64_t>(4 * std::sqrt(bytes));
  const int64_t most = minutes < 5 ? 4000 : minutes < 60 ? 8000 : minutes < 240 ? 16000 : 32000;
  return std::max<int64_t>(std::min({wanted, words, most}) / 100 * 100, 300 + letters);
}

std::string family_for(const OwnText& text, const TextSurvey& survey) {
  if (text.kind == Kind::pairs) return "marian";
  if (text.kind == Kind::labels) return "bert";
  return survey.sides[0].bytes < kMuchText ? "gpt2" : "llama";
}

// What the user says of the family, which decides the names of all other keys of the model.
std::string overridden_family(const OwnText& text, const std::string& family) {
  constexpr std::string_view kKey = "model.model_type=";
  for (const std::string& override : text.overrides)
    if (override.starts_with(kKey)) {
      std::string value = override.substr(kKey.size());
      std::erase(value, '"');
      return value;
    }
  return family;
}

// The longest example that is learned from, so that nearly all are; what is longer is dropped (of texts with labels,
// cut).
int64_t longest_for(const OwnText& text, const TextSurvey& survey) {
  const int64_t rounded = (usual_length(text, survey) + 63) / 64 * 64;
  return std::clamp(rounded, kUsualLength, text.kind == Kind::labels ? kLongestLabelled : kLongest);
}

// The model is what it is, and reads no more than its positions.
void go_on_from(Recipe& recipe, const std::string& from) {
  recipe.start_from = absolute_path(from).string();
  recipe.model = model_of(from);
  const int64_t positions = parse_config(recipe.model).max_positions;
  if (positions <= 0) return;  // none that are counted
  recipe.data.max_length = std::min(recipe.data.max_length, positions);
  recipe.batch.window = std::min(recipe.batch.window, positions);
}

void choose_tokens(ChosenRecipe& chosen, const OwnText& text, const TextSurvey& survey) {
  Recipe& recipe = chosen.recipe;
  const SideSurvey& side = survey.sides[0];
  const auto decide = [&](const std::string& choice, const std::string& why) {
    chosen.decisions.push_back({"tokens", choice, why});
  };
  if (!text.from.empty()) {
    decide("those of " + text.from, "the model goes on with its own vocabulary");
    return;
  }
  if (text.kind == Kind::text && (text.characters || side.bytes < kLittleText)) {
    recipe.tokenizer.kind = "characters";
    recipe.tokenizer.vocab = 8000;
    decide("characters", text.characters ? "as asked" : "too little text to learn longer pieces from");
  } else if (text.kind == Kind::text && is_closed_world(side)) {
    recipe.tokenizer.kind = "words";
    recipe.tokenizer.vocab = 20000;
    decide("words", fmt::format("the text says everything with {} words", with_separators(side.distinct_words)));
  } else {
    recipe.tokenizer.kind = "bpe";
    recipe.tokenizer.vocab = vocabulary_for(survey, text.minutes);
    recipe.tokenizer.joint = true;
    decide(fmt::format("{} pieces (BPE{})", with_separators(recipe.tokenizer.vocab),
                       text.kind == Kind::pairs ? ", one table for both sides" : ""),
           fmt::format("for {} of text with {} different words", size_text(side.bytes + survey.sides[1].bytes),
                       with_separators(side.distinct_words + survey.sides[1].distinct_words)));
  }
}

void describe_text(ChosenRecipe& chosen, const OwnText& text, const TextSurvey& survey) {
  const bool two = text.kind == Kind::pairs;
  const char* unit = two ? "pairs" : "lines";
  std::string choice = fmt::format("{} {}, {}", with_separators(survey.lines), unit,
                                   size_text(survey.sides[0].bytes + survey.sides[1].bytes));
  if (survey.duplicates > 0)
    choice += fmt::format(", {:.1f} % repeated",
                          100 * static_cast<double>(survey.duplicates) / static_cast<double>(survey.lines));
  const SideSurvey& first = survey.sides[text.kind == Kind::labels && label_first(survey) ? 1 : 0];
  chosen.decisions.push_back({"text", choice, two ? "source: " + describe_side(first) : describe_side(first)});
  if (two) chosen.decisions.push_back({"", "", "target: " + describe_side(survey.sides[1])});
}

}  // namespace

CorpusFiles corpus_files(const OwnText& text) {
  CorpusFiles files;
  for (const std::string& file : text.files) files.paths.emplace_back(file);
  files.pairs = text.kind != Kind::text;
  files.stream = text.unit != "lines";
  return files;
}

ChosenRecipe choose_data(const OwnText& text, const TextSurvey& survey) {
  check(survey.lines > 0, "[train] {} has no text in it", text.files.at(0));
  check(survey.lines >= 10, "[train] {}: {} lines of text are too few: a model needs some hundreds at least",
        text.files.at(0), survey.lines);
  ChosenRecipe chosen;
  Recipe& recipe = chosen.recipe;
  describe_text(chosen, text, survey);
  recipe.description = "chosen by limpid train for text of your own";
  recipe.data.train = absolute(text.files);
  recipe.data.valid = absolute(text.valid);
  recipe.data.test = absolute(text.test);
  recipe.data.max_length = longest_for(text, survey);
  recipe.data.valid_most = kHeldOut;
  recipe.data.valid_share = survey.lines < 2000 ? 0.1 : 0.05;
  if (text.kind == Kind::pairs) recipe.data.max_ratio = 9;  // sides that differ more are no translations
  if (text.kind == Kind::labels) {
    recipe.data.labels = true;
    recipe.data.columns = label_first(survey) ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{0, 1};
    chosen.decisions.push_back(
        {"labels", label_first(survey) ? "the first column" : "the second column",
         fmt::format("it has {} different texts, the other {}",
                     with_separators(survey.sides[label_first(survey) ? 0 : 1].distinct_lines),
                     with_separators(survey.sides[label_first(survey) ? 1 : 0].distinct_lines))});
  }
  choose_tokens(chosen, text, survey);
  if (text.kind == Kind::text) {
    const bool lines = is_lines(text, survey);
    recipe.data.unit = lines ? "lines" : "stream";
    recipe.batch.window = lines ? 0 : text.minutes < 2 ? 64 : text.minutes < 10 ? 128 : 256;
    chosen.decisions.push_back(
        {"examples", lines ? "every line" : "windows of one long text",
         !text.unit.empty() ? "as asked"
         : lines            ? "lines end as sentences do (it can be read as one text instead)"
                            : "lines are long, or go on from one to the next (they can be read one by one instead)"});
  }
  recipe.stop.steps = 1000;
  recipe.schedule = {.kind = "linear", .learning_rate = 0.003, .warmup = 100, .final = 0};
  const std::string family = overridden_family(text, family_for(text, survey));
  if (text.from.empty())
    recipe.model = rung_model(family, model_ladder()[0], recipe.data.max_length, 0);
  else
    go_on_from(recipe, text.from);
  recipe.validation.translate = text.minutes < 5 ? 100 : 200;
  recipe = with_overrides(recipe, text.overrides);
  const Task task = task_of(recipe), asked = text.kind == Kind::pairs    ? Task::translation
                                             : text.kind == Kind::labels ? Task::classification
                                                                         : Task::language_model;
  check(task == asked || (asked == Task::language_model && task == Task::masked), "[train] a {} cannot learn this: {}",
        recipe.model.value("model_type", "model"),
        asked == Task::translation      ? "pairs are learned by encoder-decoders, such as marian"
        : asked == Task::classification ? "labels are learned by encoders, such as bert"
                                        : "text is learned by language models and encoders, such as llama and bert");
  return chosen;
}

}  // namespace limpid
