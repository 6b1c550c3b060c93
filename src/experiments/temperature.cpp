// Temperature: what dividing logits by it does to what is drawn.

#include <fmt/format.h>

#include "base/random.h"
#include "experiments/english_text.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/statistics.h"
#include "inference/sampling.h"

namespace limpid {
namespace {

const std::vector<double> kTemperatures = {0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 100};
const std::vector<double> kDrawn = {0.5, 1, 2};  // whose samples are counted

// softmax(logits/T) in double, by the formula itself.
std::vector<double> softmax(std::span<const real> logits, double temperature) {
  const double most = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  std::vector<double> p(logits.size());
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += p[i] = std::exp((static_cast<double>(logits[i]) - most) / temperature);
  for (double& x : p) x /= sum;
  return p;
}

double entropy(std::span<const Candidate> candidates) {
  double sum = 0;
  for (const Candidate& one : candidates)
    if (one.probability > 0) sum -= one.probability * std::log(one.probability);
  return sum;
}

// The logits of the next word at many places of held-out sentences.
std::vector<std::vector<real>> rows_of(const Session& session, const std::vector<std::vector<int32_t>>& texts) {
  std::vector<std::vector<real>> rows;
  for (const auto& text : texts) {
    Batch batch;
    batch.input = Tokens::of({text});
    Run run({});
    const Tensor logits = session.model().logits(run, batch, TokenChoice::all());
    const int64_t place = logits.rows() / 2;
    rows.emplace_back(logits.values().row(place), logits.values().row(place) + logits.cols());
  }
  return rows;
}

Json measure(Lab& lab, const std::string&) {
  lab.part(0, 0.8);
  const Session session = open_session(train_english(lab).folder);
  lab.part(0.8, 1);
  const std::filesystem::path folder = lab.corpus(english_corpus(english_text(lab)));
  const auto rows = rows_of(session, read_ids(session, folder / "valid.txt", lab.pick(100, 50, 20)));
  const auto options_at = [&](double temperature) {
    return SamplingOptions{.temperature = lab.contrary() ? 1 : temperature};
  };
  Json top = Json::array(), entropies = Json::array(), chances = Json::array();
  for (double temperature : kTemperatures) {
    double share = 0, bits = 0;
    for (const auto& row : rows) {
      const std::vector<Candidate> all = candidates(row, {}, options_at(temperature));
      const auto less = [](const Candidate& a, const Candidate& b) { return a.probability < b.probability; };
      share += std::max_element(all.begin(), all.end(), less)->probability / static_cast<double>(rows.size());
      bits += entropy(all) / static_cast<double>(rows.size());
    }
    top.push_back(share);
    entropies.push_back(bits);
  }
  double least = 1;
  const int64_t draws = lab.pick(20000, 10000, 5000);
  for (double temperature : kDrawn)
    for (size_t r = 0; r < std::min<size_t>(rows.size(), 5); ++r) {
      const std::vector<Candidate> all = candidates(rows[r], {}, options_at(temperature));
      Random random(random_key(lab.seed(), r, static_cast<uint64_t>(100 * temperature)));
      std::vector<double> counts(rows[r].size());
      for (int64_t i = 0; i < draws; ++i) counts[draw(all, random.uniform()).id] += 1;
      const double p = chi_square_p(counts, softmax(rows[r], temperature));
      least = std::min(least, p);
      chances.push_back({{"temperature", temperature}, {"p", p}});
    }
  return {{"temperatures", kTemperatures},
          {"top", top},
          {"entropy", entropies},
          {"uniform", std::log(static_cast<double>(session.config().vocab))},
          {"chances", chances},
          {"least_p", least},
          {"draws", draws}};
}

Json numbers(const Json& units) {
  const Json& one = units.at("distributions");
  const std::vector<double> entropies = one.at("entropy"), top = one.at("top");
  const double uniform = one.at("uniform");
  double least_rise = entropies.back();
  for (size_t i = 0; i + 1 < entropies.size(); ++i) least_rise = std::min(least_rise, entropies[i + 1] - entropies[i]);
  const auto at_one = std::find(kTemperatures.begin(), kTemperatures.end(), 1.0) - kTemperatures.begin();
  return {{"cold", top.front()},
          {"hot", entropies.back() / uniform},
          {"rise", least_rise},
          {"chance", one.at("least_p")},
          {"learned", entropies[at_one] / uniform}};
}

std::vector<Figure> figures(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Chart top{.title = word("Share of the likeliest word", "가장 그럴듯한 단어의 비율"),
            .x_name = word("temperature", "온도"),
            .y_name = word("probability", "확률"),
            .log_x = true,
            .low = 0,
            .high = 1};
  Chart entropies{
      .title = word("Entropy of the next word", "다음 단어의 엔트로피"),
      .x_name = word("temperature", "온도"),
      .y_name = "nats",
      .guides = {{mean_of(result, "distributions", "/uniform"), word("all words alike", "모든 단어가 같을 때")}},
      .log_x = true};
  const auto add = [&](Chart& chart, const char* pointer) {
    ChartSeries series{.name = word("mean over places", "여러 위치의 평균")};
    const std::vector<double> values = curve_of(result, "distributions", pointer);
    for (size_t i = 0; i < values.size(); ++i) series.points.push_back({kTemperatures[i], values[i]});
    chart.series.push_back(series);
  };
  add(top, "/top");
  add(entropies, "/entropy");
  return {{.chart = top}, {.chart = entropies}};
}

std::vector<Table> tables(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Table table{.caption = word("By temperature, mean over places and seeds", "온도별, 위치와 시드의 평균"),
              .columns = {word("temperature", "온도"), word("likeliest word", "가장 그럴듯한 단어"),
                          word("entropy, nats", "엔트로피 (nats)")},
              .rows = {}};
  const std::vector<double> top = curve_of(result, "distributions", "/top"),
                            entropies = curve_of(result, "distributions", "/entropy");
  for (size_t i = 0; i < top.size(); ++i)
    table.rows.push_back({fmt::format("{}", kTemperatures[i]), fmt::format("{:.1f} %", 100 * top[i]),
                          fmt::format("{:.3f}", entropies[i])});
  Table chances{
      .caption = word("p-values of sampled counts against the formula, one for each of five places (first seed)",
                      "뽑힌 횟수와 공식을 비교한 p값, 다섯 위치마다 하나 (첫 시드)"),
      .columns = {word("temperature", "온도"), "p"},
      .rows = {}};
  for (double temperature : kDrawn) {
    std::string values;
    for (const Json& one : result.at("seeds").at(0).at("units").at("distributions").at("chances"))
      if (one.at("temperature") == temperature)
        values += fmt::format("{}{:.3f}", values.empty() ? "" : ", ", one.at("p").get<double>());
    chances.rows.push_back({fmt::format("{}", temperature), values});
  }
  return {table, chances};
}

}  // namespace

Experiment temperature_experiment() {
  return {
      .number = 14,
      .name = "temperature",
      .title = {"Temperature", "온도"},
      .claim = {"A temperature near 0 keeps the likeliest token alone; a high one makes all tokens alike.",
                "온도가 0에 가까우면 가장 그럴듯한 토큰만 남고, 높으면 모든 토큰이 비슷해집니다."},
      .origin = {"Lecture \"How might LLMs store facts\" and its series (3Blue1Brown), study notes on them",
                 "강의 \"How might LLMs store facts\"와 그 시리즈(3Blue1Brown), 그 학습 노트"},
      .method =
          {"A small language model reads held-out sentences, and the logits of the next word are taken in the middle "
           "of each. The sampler's distribution at 14 temperatures from 0.001 to 100 gives the share of the likeliest "
           "word and the entropy. Then words are drawn many thousand times at temperatures 0.5, 1 and 2. The counts "
           "are compared with the softmax of logits divided by the temperature, computed apart in double precision, "
           "by a χ² test. The smallest of its 15 p-values must not be improbably small.",
           "작은 언어 모델이 학습하지 않은 문장을 읽고, 문장 가운데에서 다음 단어의 로짓을 얻습니다. 0.001부터 100까지 "
           "14개 온도에서 샘플러의 분포로 가장 그럴듯한 단어의 비율과 엔트로피를 구합니다. 이어서 온도 0.5, 1, 2에서 "
           "단어를 수천 번 뽑습니다. 뽑힌 횟수를, 배정밀도로 따로 계산한 softmax(로짓/온도)와 χ² 검정으로 비교합니다. "
           "15개 p값 가운데 가장 작은 것도 지나치게 작아서는 안 됩니다."},
      .reported = {"The lecture shows the effect on examples and gives no figure.",
                   "강의는 예로 보이며 수치는 없습니다."},
      .contrary = {"The sampler ignores the temperature.", "샘플러가 온도를 무시합니다."},
      .parts = {{"cold",
                 {"share of the likeliest word at temperature 0.001", "온도 0.001에서 가장 그럴듯한 단어의 비율"},
                 Measure::Must::at_least,
                 0.98,
                 true},
                {"hot",
                 {"entropy at temperature 100, as a share of that of equal chances",
                  "온도 100의 엔트로피 / 균등할 때의 엔트로피"},
                 Measure::Must::at_least,
                 0.99},
                {"rise",
                 {"least rise of the entropy from one temperature to the next",
                  "이웃한 온도 사이에서 엔트로피가 가장 적게 오른 값"},
                 Measure::Must::at_least,
                 0},
                {"chance",
                 {"smallest p-value of sampled counts against the formula", "뽑힌 횟수와 공식을 비교한 가장 작은 p값"},
                 Measure::Must::at_least,
                 0.0001}},
      .baseline = Measure{"learned",
                          {"entropy at temperature 1 as a share of that of equal chances",
                           "온도 1의 엔트로피 / 균등할 때의 엔트로피"},
                          Measure::Must::at_most,
                          0.8},
      .full_seconds = 0.2,
      .quick_seconds = 0.1,
      .units = [](const Lab&) { return std::vector<std::string>{"distributions"}; },
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
