// Dot products of embeddings: words that are alike, unrelated and opposed, as distributions.

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/random.h"
#include "corpora/facts.h"
#include "experiments/english_text.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/statistics.h"
#include "experiments/tasks.h"
#include "inspect/embeddings.h"

namespace limpid {
namespace {

using WordList = std::vector<std::string>;
using WordPairs = std::vector<std::pair<std::string, std::string>>;

// Fixed before anything is trained. Words of one list are alike, words of two lists unrelated.
const std::vector<WordList>& groups() {
  static const std::vector<WordList> all = {
      {"apple", "banana", "orange", "peach", "strawberry", "lemon", "melon", "watermelon"},
      {"coffee", "tea", "milk", "juice", "beer", "wine"},
      {"student", "teacher", "doctor", "nurse", "farmer", "chef", "singer", "actor"},
      {"shirt", "coat", "dress", "skirt", "sweater", "jacket"},
      {"soccer", "basketball", "baseball", "volleyball"},
      {"math", "history", "science", "physics", "law"},
      {"book", "magazine", "novel", "poem", "letter", "newspaper"},
      {"bus", "train", "taxi", "airplane"},
      {"yesterday", "today", "tomorrow"},
      {"quickly", "slowly", "quietly"},
      {"bought", "sold", "chose"},
      {"the", "a", "my"},
  };
  return all;
}

// None of them in a list of words that are alike.
const WordPairs& opposites() {
  static const WordPairs all = {{"big", "small"},      {"fast", "slow"},      {"long", "short"},
                                {"heavy", "light"},    {"new", "old"},        {"clean", "dirty"},
                                {"hot", "cold"},       {"difficult", "easy"}, {"expensive", "cheap"},
                                {"wide", "narrow"},    {"good", "bad"},       {"interesting", "boring"},
                                {"safe", "dangerous"}, {"white", "black"},    {"happy", "sad"},
                                {"opened", "closed"},  {"loved", "hated"},    {"found", "lost"}};
  return all;
}

// What the model of facts knows: the words that end its sentences, in lists by relation.
std::vector<WordList> fact_groups() {
  std::map<std::string, std::set<std::string>> by_relation;
  const FactWorld world;
  for (const Fact& fact : world.facts())
    if (!fact.relation.starts_with("team-")) by_relation[fact.relation].insert(fact.object);
  std::vector<WordList> lists;
  for (const auto& [relation, words] : by_relation) lists.emplace_back(words.begin(), words.end());
  return lists;
}

struct ListedWords {
  std::vector<WordList> lists;
  WordPairs opposed;
};

// The contrary: every word, of lists and of opposites, stands in the place of another, drawn at random.
void shuffle(ListedWords& words, uint64_t seed) {
  std::vector<std::string*> places;
  for (WordList& list : words.lists)
    for (std::string& word : list) places.push_back(&word);
  for (auto& [first, second] : words.opposed) places.insert(places.end(), {&first, &second});
  Random random(random_key(seed, 0, 51));
  for (size_t i = places.size(); i > 1; --i) std::swap(*places[i - 1], *places[random.below(static_cast<int64_t>(i))]);
}

struct Products {
  std::vector<double> cosines, dots;

  void add(const std::vector<double>& a, const std::vector<double>& b) {
    cosines.push_back(similarity(a, b, Similarity::cosine));
    dots.push_back(similarity(a, b, Similarity::dot));
  }
  Json json() const {
    return {{"cosines", cosines},
            {"mean", mean(cosines)},
            {"deviation", standard_deviation(cosines)},
            {"mean_dot", mean(dots)},
            {"positive", static_cast<double>(std::count_if(dots.begin(), dots.end(), [](double x) { return x > 0; })) /
                             static_cast<double>(std::max<size_t>(dots.size(), 1))}};
  }
};

LabModel train_unit(Lab& lab, const std::string& unit) {
  if (unit == "facts") return train_facts(lab);
  // The translator with four heads of the experiment on heads.
  if (unit == "translator") return train_translator(lab, 4);
  return train_english(lab);
}

Json measure(Lab& lab, const std::string& unit) {
  const LabModel model = train_unit(lab, unit);
  const Session session = open_session(model.folder);
  const bool translator = unit == "translator";
  const EmbeddingSpace space(session.model(), translator ? "encoder" : "");
  // A word that the text does not have is left out; one of several tokens is their mean.
  const auto vector_of = [&](const std::string& word) -> std::optional<std::vector<double>> {
    const std::vector<int32_t> ids = session.reader().encode(word);
    const int32_t unknown = session.reader().special().unknown;
    if (ids.empty() || std::find(ids.begin(), ids.end(), unknown) != ids.end()) return std::nullopt;
    return space.mean(ids);
  };
  ListedWords words{.lists = unit == "facts" ? fact_groups() : groups(),
                    .opposed = unit == "facts" ? WordPairs{} : opposites()};
  if (lab.contrary()) shuffle(words, lab.seed());
  std::vector<std::vector<std::vector<double>>> lists;
  for (const WordList& list : words.lists) {
    lists.emplace_back();
    for (const std::string& word : list)
      if (auto vector = vector_of(word)) lists.back().push_back(std::move(*vector));
  }
  Products alike, unrelated, opposed;
  for (size_t i = 0; i < lists.size(); ++i)
    for (size_t j = i; j < lists.size(); ++j)
      for (size_t a = 0; a < lists[i].size(); ++a)
        for (size_t b = i == j ? a + 1 : 0; b < lists[j].size(); ++b)
          (i == j ? alike : unrelated).add(lists[i][a], lists[j][b]);
  for (const auto& [first, second] : words.opposed) {
    const auto a = vector_of(first), b = vector_of(second);
    if (a && b) opposed.add(*a, *b);
  }
  return {{"alike", alike.json()},     {"unrelated", unrelated.json()},
          {"opposed", opposed.json()}, {"exceedance", exceedance(alike.cosines, unrelated.cosines)},
          {"loss", model.loss},        {"uniform", std::log(static_cast<double>(session.config().vocab))}};
}

Json numbers(const Json& units) {
  const Json& one = units.at("words");
  Json numbers = {{"exceedance", one.at("exceedance")},
                  {"positive", one.at("alike").at("positive")},
                  {"unrelated", std::abs(one.at("unrelated").at("mean").get<double>())},
                  {"opposed", one.at("opposed").at("mean")},
                  {"learned", one.at("loss").get<double>() / one.at("uniform").get<double>()}};
  for (const char* other : {"facts", "translator"})
    numbers[std::string("exceedance_") + other] = units.at(other).at("exceedance");
  return numbers;
}

struct Kind {
  const char* key;
  Words name;
};
constexpr Kind kKinds[] = {{"alike", {"alike", "비슷한 단어"}},
                           {"unrelated", {"unrelated", "무관한 단어"}},
                           {"opposed", {"opposed", "반대되는 단어"}}};

std::vector<Figure> figures(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Chart chart{.title = word("Cosines between embeddings of two words", "두 단어 임베딩의 코사인"),
              .x_name = word("cosine", "코사인"),
              .y_name = word("share of the pairs", "단어 쌍의 비율")};
  constexpr int kBins = 20;
  for (const Kind& kind : kKinds) {
    std::vector<double> bins(kBins);
    double all = 0;
    for (const Json& seed : result.at("seeds"))
      for (double cosine : seed.at("units").at("words").at(kind.key).at("cosines")) {
        bins[std::clamp(static_cast<int>((cosine + 1) / 2 * kBins), 0, kBins - 1)] += 1;
        all += 1;
      }
    ChartSeries series{.name = kind.name.in(language)};
    for (int i = 0; i < kBins; ++i) series.points.push_back({(i + 0.5) * 2 / kBins - 1, bins[i] / std::max(all, 1.0)});
    chart.series.push_back(series);
  }
  return {{.chart = chart, .caption = word("All pairs of all seeds.", "모든 시드의 모든 단어 쌍.")}};
}

std::vector<Table> tables(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  const std::pair<const char*, Words> models[] = {
      {"words",
       {"Pairs of words in the language model of English, mean over the seeds", "영어 언어 모델의 단어 쌍, 시드 평균"}},
      {"facts",
       {"In the language model of facts: objects of one relation, or of two",
        "사실 언어 모델: 같은 관계의 목적어, 또는 다른 관계의 목적어"}},
      {"translator", {"In the translator's table of the source", "번역 모델의 원문 표"}}};
  std::vector<Table> all;
  for (const auto& [unit, caption] : models) {
    Table table{.caption = caption.in(language),
                .columns = {"", word("pairs", "쌍"), word("mean cosine", "평균 코사인"), word("deviation", "표준편차"),
                            word("mean dot product", "평균 내적"), word("dot product > 0", "내적 > 0")},
                .rows = {}};
    for (const Kind& kind : kKinds) {
      const std::string at = std::string("/") + kind.key;
      const size_t pairs = result.at("seeds").at(0).at("units").at(unit).at(kind.key).at("cosines").size();
      if (pairs == 0) continue;
      table.rows.push_back({kind.name.in(language), fmt::format("{}", pairs),
                            fmt::format("{:.3f}", mean_of(result, unit, at + "/mean")),
                            fmt::format("{:.3f}", mean_of(result, unit, at + "/deviation")),
                            fmt::format("{:.3f}", mean_of(result, unit, at + "/mean_dot")),
                            fmt::format("{:.0f} %", 100 * mean_of(result, unit, at + "/positive"))});
    }
    all.push_back(std::move(table));
  }
  return all;
}

}  // namespace

Experiment embeddings_experiment() {
  return {
      .number = 13,
      .name = "embeddings",
      .title = {"Dot products of embeddings", "임베딩의 내적"},
      .claim =
          {"The dot product of two embeddings is positive where words are alike, near zero where they are unrelated, "
           "and negative where they are opposed.",
           "두 임베딩의 내적은 단어가 비슷하면 양수, 무관하면 0에 가깝고, 반대되면 음수입니다."},
      .origin = {"Lecture \"How might LLMs store facts\" and its series (3Blue1Brown), study notes on them",
                 "강의 \"How might LLMs store facts\"와 그 시리즈(3Blue1Brown), 그 학습 노트"},
      .method =
          {"A small language model is trained on English sentences. Twelve lists of words (fruits, drinks, persons, "
           "garments, …) and 18 pairs of opposites stand in the source before training. Words of one list count as "
           "alike, words of two lists as unrelated; a translator is asked about the same words, a model of facts about "
           "the objects of its relations. The cosine and the dot product of the embeddings are computed for "
           "every pair. Distributions are compared: how often a pair of like words has a larger cosine than an "
           "unrelated pair.",
           "영어 문장으로 작은 언어 모델을 학습합니다. 단어 목록 열둘(과일, 음료, 사람, 옷 등)과 반대말 18쌍은 학습 "
           "전에 "
           "소스에 적어 둡니다. 같은 목록의 단어는 비슷한 것으로, 다른 목록의 단어는 무관한 것으로 보며, 번역 모델은 "
           "같은 "
           "단어로, 사실 모델은 관계의 목적어로 봅니다. 모든 쌍에 "
           "대해 "
           "임베딩의 코사인과 내적을 구합니다. 예가 아니라 분포를 비교하여, 비슷한 쌍의 코사인이 무관한 쌍보다 큰 "
           "비율을 봅니다."},
      .reported = {"The lecture states the rule of signs for directions in general. Work on word vectors reports that "
                   "opposites "
                   "occur in the same contexts and therefore lie close together (Mohammad et al. 2013).",
                   "강의는 방향 일반에 대해 부호의 규칙을 말합니다. 단어 벡터 연구는 반대말이 같은 문맥에 나타나므로 "
                   "서로 가깝다고 "
                   "보고합니다 (Mohammad 외 2013)."},
      .contrary = {"The words of the lists and of the opposites are shuffled.", "목록과 반대말의 단어를 뒤섞습니다."},
      .parts = {{"exceedance",
                 {"how often a pair of like words has a larger cosine than an unrelated pair",
                  "비슷한 쌍의 코사인이 무관한 쌍보다 큰 비율"},
                 Measure::Must::at_least,
                 0.85,
                 true},
                {"positive",
                 {"share of pairs of like words with a positive dot product", "비슷한 쌍 가운데 내적이 양수인 비율"},
                 Measure::Must::at_least,
                 0.85},
                {"unrelated",
                 {"distance of the mean cosine of unrelated pairs from zero", "무관한 쌍의 평균 코사인과 0의 거리"},
                 Measure::Must::at_most,
                 0.1},
                {"opposed", {"mean cosine of opposed pairs", "반대말 쌍의 평균 코사인"}, Measure::Must::at_most, 0},
                {"exceedance_facts",
                 {"the main number of a language model of facts", "사실 언어 모델의 주된 수치"},
                 Measure::Must::at_least,
                 0.85},
                {"exceedance_translator",
                 {"the main number of a translator", "번역 모델의 주된 수치"},
                 Measure::Must::at_least,
                 0.85}},
      .baseline = Measure{"learned",
                          {"loss of the model as a share of guessing evenly", "모델의 손실 / 고르게 추측할 때의 손실"},
                          Measure::Must::at_most,
                          0.6},
      .full_seconds = 51,
      .quick_seconds = 17,
      .revision = 2,
      .units =
          [](const Lab&) {
            return std::vector<std::string>{"words", "facts", "translator"};
          },
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
