// Two thirds of the parameters: what share of a model its feed-forward networks are, counted from configs.

#include <fmt/format.h>

#include "experiments/known_configs.h"
#include "experiments/lab.h"
#include "experiments/list.h"
#include "models/model.h"
#include "models/parameter_table.h"

namespace limpid {
namespace {

constexpr double kTwoThirds = 2.0 / 3;
constexpr const char* kSubject = "GPT-3 175B";

Json count(const KnownConfig& known) {
  const auto model = make_model(parse_config(known.config));
  const ParameterTable table = parameter_table(*model);
  const auto weights = [&](ParameterRole role) { return table.of(role).weights; };
  const int64_t ffn = weights(ParameterRole::feed_forward), attention = weights(ParameterRole::attention);
  return {{"classical", known.classical},
          {"differs", known.differs},
          {"embedding", weights(ParameterRole::embedding) + weights(ParameterRole::output)},
          {"attention", attention},
          {"feed_forward", ffn},
          {"matrices", table.matrices()},
          {"parameters", table.total()},
          {"share", static_cast<double>(ffn) / static_cast<double>(table.matrices())},
          {"share_of_blocks", static_cast<double>(ffn) / static_cast<double>(ffn + attention)}};
}

Json measure(Lab& lab, const std::string& unit) {
  KnownConfig known = known_config(unit);
  if (lab.contrary() && unit == kSubject) known.config["n_inner"] = known.config["n_embd"];
  return count(known);
}

std::vector<std::string> units(const Lab&) {
  std::vector<std::string> names;
  for (const KnownConfig& known : known_configs()) names.push_back(known.name);
  return names;
}

Json numbers(const Json& units) {
  double worst = 0, worst_of_blocks = 0;
  for (const auto& [name, one] : units.items()) {
    worst = std::max(worst, std::abs(one.at("share").get<double>() - kTwoThirds));
    if (one.at("classical"))
      worst_of_blocks = std::max(worst_of_blocks, std::abs(one.at("share_of_blocks").get<double>() - kTwoThirds));
  }
  const Json& subject = units.at(kSubject);
  return {{"share_off", std::abs(subject.at("share").get<double>() - kTwoThirds)},
          {"count_off", std::abs(subject.at("matrices").get<double>() - 175181291520.0)},
          {"blocks_off", worst_of_blocks},
          {"worst_off", worst}};
}

std::vector<Table> tables(const Json& result, Language language) {
  const Words caption = {"Matrices by part; norms, positions and biases left out",
                         "부분별 행렬의 매개변수 수 (정규화, 위치, 편향은 제외)"};
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Table table{.caption = caption.in(language),
              .columns = {word("model", "모델"), word("embedding", "임베딩"), word("attention", "어텐션"),
                          word("feed-forward", "순방향 신경망"), word("all", "전체"), word("share", "비율"),
                          word("of the blocks", "블록 안의 비율"), word("differs by", "다른 점")},
              .rows = {}};
  for (const auto& [name, one] : result.at("seeds").at(0).at("units").items())
    table.rows.push_back({name, with_separators(one.at("embedding")), with_separators(one.at("attention")),
                          with_separators(one.at("feed_forward")), with_separators(one.at("matrices")),
                          fmt::format("{:.1f} %", 100 * one.at("share").get<double>()),
                          fmt::format("{:.1f} %", 100 * one.at("share_of_blocks").get<double>()),
                          one.at("differs").get<std::string>()});
  return {table};
}

std::vector<Figure> figures(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Chart chart{.title = word("Share of the feed-forward networks", "순방향 신경망의 비율"),
              .x_name = word("matrices", "행렬 매개변수 수"),
              .y_name = word("share", "비율"),
              .guides = {{kTwoThirds, "2/3"}},
              .log_x = true,
              .low = 0,
              .high = 1};
  ChartSeries whole{.name = word("of the whole model", "모델 전체에서"), .line = false};
  ChartSeries blocks{.name = word("of the blocks", "블록 안에서"), .line = false};
  for (const auto& [name, one] : result.at("seeds").at(0).at("units").items()) {
    whole.points.push_back({one.at("matrices"), one.at("share")});
    blocks.points.push_back({one.at("matrices"), one.at("share_of_blocks")});
  }
  chart.series = {whole, blocks};
  return {
      {.chart = chart, .caption = word("One pair of points per published model.", "공개된 모델마다 점 한 쌍입니다.")}};
}

}  // namespace

Experiment parameters_experiment() {
  return {
      .number = 12,
      .name = "parameters",
      .title = {"Two thirds of the parameters", "매개변수의 3분의 2"},
      .claim = {"The feed-forward networks hold about two thirds of a Transformer's parameters.",
                "트랜스포머 매개변수의 약 3분의 2가 순방향 신경망에 있습니다."},
      .origin = {"Lecture \"How might LLMs store facts\" (3Blue1Brown) and study notes on it",
                 "강의 \"How might LLMs store facts\" (3Blue1Brown)와 그 학습 노트"},
      .method =
          {"The parameters of published models are counted from their configs by the table that limpid params prints. "
           "Norms, positions and biases are left out, as the lecture does, and GPT-3's embedding and unembedding are "
           "counted apart. The share of the feed-forward networks is taken of the whole model and of the blocks "
           "alone. A block of the classical shape has 4d² numbers in attention and 8d² in its network, exactly two "
           "thirds; the encoder-decoder's decoder has attention twice. The count is exact and needs no seed.",
           "공개된 모델의 설정에서 limpid params와 같은 표로 매개변수를 셉니다. 강의와 같이 정규화, 위치, 편향은 빼고, "
           "GPT-3의 임베딩과 언임베딩은 따로 셉니다. 순방향 신경망의 비율을 모델 전체와 블록 안에서 각각 구합니다. "
           "고전적인 블록은 어텐션에 4d², 신경망에 8d²개의 수가 있어 정확히 3분의 2이며, 인코더-디코더의 디코더에는 "
           "어텐션이 둘 있습니다. 정확한 계산이므로 시드가 필요 없습니다."},
      .reported = {"The lecture counts 115,964,116,992 of GPT-3's 175,181,291,520.",
                   "강의는 GPT-3의 175,181,291,520개 가운데 115,964,116,992개로 셉니다."},
      .contrary = {"GPT-3 with networks no wider than the model.", "신경망의 폭이 모델의 폭과 같은 GPT-3."},
      .parts =
          {{"share_off",
            {"distance of the networks' share of GPT-3 from two thirds", "GPT-3에서 신경망의 비율과 3분의 2의 차이"},
            Measure::Must::at_most,
            0.02,
            true},
           {"count_off",
            {"parameters by which our count of GPT-3 differs from 175,181,291,520",
             "GPT-3의 매개변수 수와 175,181,291,520의 차이"},
            Measure::Must::at_most,
            0},
           {"blocks_off",
            {"largest distance from two thirds within the blocks of decoder- or encoder-only models of classical shape",
             "고전적인 형태의 단일 스택 모델에서 블록 안의 비율과 3분의 2의 가장 큰 차이"},
            Measure::Must::at_most,
            0.001},
           {"worst_off",
            {"largest distance from two thirds of any published model", "모든 공개 모델에서 3분의 2와의 가장 큰 차이"},
            Measure::Must::at_most,
            0.1}},
      .counted = true,
      .full_seconds = 0.1,
      .quick_seconds = 0.1,
      .revision = 2,
      .units = units,
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
