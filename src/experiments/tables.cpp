// The tables of "Attention Is All You Need": parameters and cost computed, and the shape of Table 3's variations on a
// text that fits a small machine.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "experiments/english_text.h"
#include "experiments/known_configs.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/statistics.h"
#include "experiments/tasks.h"
#include "models/model.h"
#include "models/parameter_table.h"

namespace limpid {
namespace {

// A row of Table 3, scaled down to a language model: width 512 → 64, feed-forward 2048 → 256, 6 layers → 3, 8 heads
// → 4. Those are ranked whose BLEU differs from the base model's 25.8 by 0.5 or more.
struct Variation {
  const char* unit;
  const char* change;       // in the paper
  double bleu, perplexity;  // there, on newstest2013
  std::vector<std::string> keys;
  bool ranked = true;  // false: too near to the base for its place to mean anything
};

const std::vector<Variation>& variations() {
  static const std::vector<Variation> all = {
      {"base", "–", 25.8, 4.92, {}, false},
      {"one head", "h = 1, d_k = 512", 24.9, 5.29, {"model.num_attention_heads=1", "model.head_dim=64"}},
      {"small heads", "d_k = 16", 25.1, 5.16, {"model.head_dim=4"}},
      {"2 of 6 layers", "N = 2", 23.7, 6.11, {"model.num_hidden_layers=1"}},
      {"4 of 6 layers", "N = 4", 25.3, 5.19, {"model.num_hidden_layers=2"}},
      {"half width", "d_model = 256, d_k = 32", 24.5, 5.75, {"model.hidden_size=32", "model.head_dim=8"}},
      {"no dropout", "P_drop = 0", 24.6, 5.77, {"model.limpid.dropout={embedding=0.0, residual=0.0}"}},
      {"no smoothing", "ε_ls = 0", 25.3, 4.67, {"optimizer.label_smoothing=0.0"}},
      {"big",
       "d_model = 1024, d_ff = 4096, h = 16, P_drop = 0.3",
       26.4,
       4.33,
       {"model.hidden_size=128", "model.intermediate_size=512", "model.num_attention_heads=8",
        "model.limpid.dropout={embedding=0.3, residual=0.3}"}},
      {"learned positions", "positions learned", 25.7, 4.92, {"model.limpid.positions=\"learned\""}, false},
  };
  return all;
}

int64_t steps_of(const Lab& lab) { return lab.pick(700, 500, 5); }

// The paper's decoder as a language model. Llama's config is the one that has the size of a head apart; a small one
// shrinks values as well as keys.
std::string recipe(const Lab& lab) {
  return R"(
[data]
train = ["train.txt"]
valid = ["valid.txt"]
[tokenizer]
kind = "words"
[model]
model_type = "llama"
hidden_size = 64
intermediate_size = 256
num_hidden_layers = 3
num_attention_heads = 4
head_dim = 16
max_position_embeddings = 128
tie_word_embeddings = true
initializer_range = 0.125
attention_bias = true
mlp_bias = true
limpid = { scale_embedding = true, norm = "layer", positions = "sinusoidal", activation = "relu", gated = false, dropout = { embedding = 0.1, residual = 0.1 } }
)" + to_toml({.steps = steps_of(lab), .learning_rate = 0.003, .warmup = 50});
}

// So few lines that a model learns them by heart before it is done.
LabCorpus small_corpus(const Lab& lab) {
  return english_corpus({.train = lab.pick<int64_t>(1500, 1500, 200), .valid = lab.pick<int64_t>(400, 200, 20)});
}

// Parameters of the paper's two models, and the operations of their training by the usual 6 per parameter and token.
Json computed() {
  struct Paper {
    const char* name;
    double parameters, steps, flops;  // as the paper states them
  };
  constexpr Paper kPaper[] = {{"Transformer base", 65e6, 100e3, 3.3e18}, {"Transformer big", 213e6, 300e3, 2.3e19}};
  constexpr double kTokens = 25000;  // of each side per step
  Json json = Json::object();
  for (const Paper& paper : kPaper) {
    const auto model = make_model(parse_config(known_config(paper.name).config));
    const int64_t count = parameter_table(*model).total();
    json[paper.name] = {{"parameters", count},
                        {"paper_parameters", paper.parameters},
                        {"flops", 6 * static_cast<double>(count) * kTokens * paper.steps},
                        {"paper_flops", paper.flops}};
  }
  return json;
}

// The contrary: the scores of another row stand beside the model.
const Variation& row_of_paper(const Lab& lab, size_t index) {
  if (!lab.contrary()) return variations()[index];
  std::vector<size_t> rows(variations().size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  Random random(random_key(lab.seed(), 0, 81));
  for (size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(static_cast<int64_t>(i))]);
  return variations()[rows[index]];
}

// The planted effect: the worse a model is in the paper, the fewer of the steps it is trained for here, from all of
// them down to a thirtieth.
int64_t planted_steps(const Variation& model, int64_t steps) {
  const auto better = std::count_if(variations().begin(), variations().end(),
                                    [&](const Variation& other) { return other.bleu > model.bleu; });
  const double place = static_cast<double>(better) / static_cast<double>(variations().size() - 1);
  return std::max<int64_t>(std::llround(static_cast<double>(steps) * std::pow(30.0, -place)), 1);
}

Json measure(Lab& lab, const std::string& unit) {
  if (unit == "computed") return computed();
  const auto found =
      std::find_if(variations().begin(), variations().end(), [&](const Variation& one) { return unit == one.unit; });
  std::vector<std::string> keys = {"batch.tokens=512", "optimizer.label_smoothing=0.1"};
  keys.insert(keys.end(), found->keys.begin(), found->keys.end());
  if (lab.planted()) keys.push_back(fmt::format("stop.steps={}", planted_steps(*found, steps_of(lab))));
  const LabModel model = lab.train(recipe(lab), keys, small_corpus(lab));
  const Variation& paper = row_of_paper(lab, static_cast<size_t>(found - variations().begin()));
  return {{"loss", model.loss},
          {"perplexity", std::exp(model.loss)},
          {"uniform", std::log(static_cast<double>(open_session(model.folder).config().vocab))},
          {"paper_bleu", paper.bleu},
          {"paper_perplexity", paper.perplexity}};
}

std::vector<std::string> units(const Lab&) {
  std::vector<std::string> names = {"computed"};
  for (const Variation& one : variations()) names.emplace_back(one.unit);
  return names;
}

Json numbers(const Json& units) {
  std::vector<double> ours, bleu, perplexity;
  for (const Variation& one : variations()) {
    if (!one.ranked) continue;
    const Json& unit = units.at(one.unit);
    ours.push_back(-unit.at("loss").get<double>());
    bleu.push_back(unit.at("paper_bleu"));
    perplexity.push_back(-unit.at("paper_perplexity").get<double>());
  }
  const auto off = [&](const char* model, const char* key) {
    const Json& json = units.at("computed").at(model);
    const double ratio = json.at(key).get<double>() / json.at(std::string("paper_") + key).get<double>();
    return std::max(ratio, 1 / ratio);
  };
  return {{"rho", spearman(ours, bleu)},
          {"rho_perplexity", spearman(ours, perplexity)},
          {"parameters", std::max(off("Transformer base", "parameters"), off("Transformer big", "parameters"))},
          {"cost", std::max(off("Transformer base", "flops"), off("Transformer big", "flops"))},
          {"learned_positions", std::abs(units.at("learned positions").at("loss").get<double>() -
                                         units.at("base").at("loss").get<double>())},
          {"learned", units.at("base").at("loss").get<double>() / units.at("base").at("uniform").get<double>()}};
}

std::vector<Figure> figures(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Chart chart{.title = word("Variations of the base model: BLEU in the paper, perplexity here",
                            "기본 모델의 변형: 논문의 BLEU와 여기의 퍼플렉서티"),
              .x_name = word("BLEU in the paper", "논문의 BLEU"),
              .y_name = word("perplexity here", "여기의 퍼플렉서티")};
  ChartSeries series{.name = word("mean over the seeds", "시드 평균"), .line = false};
  for (const Variation& one : variations())
    series.points.push_back({mean_of(result, one.unit, "/paper_bleu"), mean_of(result, one.unit, "/perplexity")});
  chart.series = {series};
  return {{.chart = chart}};
}

std::vector<Table> tables(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Table rows{.caption = word("Table 3 of the paper and our small copy of it, mean over the seeds",
                             "논문의 표 3과 작은 재현, 시드 평균"),
             .columns = {"", word("in the paper", "논문에서"), word("BLEU, paper", "BLEU (논문)"),
                         word("perplexity, paper", "퍼플렉서티 (논문)"), word("perplexity, here", "퍼플렉서티 (여기)")},
             .rows = {}};
  for (const Variation& one : variations())
    rows.rows.push_back({one.unit, one.change, fmt::format("{:.1f}", one.bleu), fmt::format("{:.2f}", one.perplexity),
                         fmt::format("{:.2f}", mean_of(result, one.unit, "/perplexity"))});
  Table cost{.caption = word("Tables 2 and 3: parameters and training cost, computed from the config",
                             "표 2와 3: 설정에서 계산한 매개변수 수와 학습 비용"),
             .columns = {"", word("parameters", "매개변수"), word("paper", "논문"), word("operations", "연산 수"),
                         word("paper", "논문")},
             .rows = {}};
  for (const auto& [name, one] : result.at("seeds").at(0).at("units").at("computed").items())
    cost.rows.push_back({name, with_separators(one.at("parameters")),
                         fmt::format("{:.0f} M", one.at("paper_parameters").get<double>() / 1e6),
                         fmt::format("{:.1e}", one.at("flops").get<double>()),
                         fmt::format("{:.1e}", one.at("paper_flops").get<double>())});
  return {rows, cost};
}

}  // namespace

Experiment tables_experiment() {
  return {
      .number = 17,
      .name = "tables",
      .title = {"The paper's tables", "논문의 표"},
      .claim =
          {"The Transformer's parameters and training cost are as the paper states them, and its variations rank as in "
           "Table 3.",
           "트랜스포머의 매개변수 수와 학습 비용은 논문이 적은 대로이며, 변형들의 순위는 표 3과 같습니다."},
      .origin = {"Paper \"Attention Is All You Need\" (Vaswani et al. 2017), Tables 2 and 3",
                 "논문 \"Attention Is All You Need\" (Vaswani 외 2017), 표 2와 3"},
      .method =
          {"Parameters are counted from the configs of the base and the big model; the cost is six operations per "
           "parameter and target token. The rows of Table 3 that differ from the base by half a BLEU point or more "
           "are scaled down to language models of width 64 and three layers. Small heads have small values as well as "
           "small keys here, and learned positions, which make no difference in the paper, are compared apart. Each is "
           "trained alike on the same 1,500 English sentences, few enough to be learned by "
           "heart, and its loss is measured on held-out sentences; BLEU would need a translator. Spearman's ρ compares "
           "our order of the eight "
           "models with the paper's.",
           "기본 모델과 큰 모델의 설정에서 매개변수를 세고, 비용은 매개변수와 목표 토큰마다 여섯 번의 연산으로 "
           "셉니다. 표 3에서 기본 모델과 BLEU가 0.5 이상 다른 행들을 폭 64, 세 층의 언어 모델로 줄입니다. 여기서 작은 "
           "헤드는 키뿐 아니라 값도 작고, 논문에서 차이가 없는 학습된 위치는 따로 비교합니다. 외울 수 있을 만큼 적은 "
           "영어 문장 1,500개로 똑같이 학습하고, 학습하지 "
           "않은 "
           "문장에서 손실을 잽니다 (BLEU에는 번역 모델이 필요합니다). 여덟 모델의 순위를 스피어만 ρ로 논문과 "
           "비교합니다."},
      .reported = {"65 and 213 million parameters, 3.3·10¹⁸ and 2.3·10¹⁹ operations (estimated from hours of GPU), "
                   "BLEU from 23.7 "
                   "to 26.4 on newstest2013.",
                   "매개변수 6,500만과 2억 1,300만, 연산 3.3·10¹⁸과 2.3·10¹⁹ (GPU 시간에서 추정), newstest2013의 BLEU "
                   "23.7–26.4."},
      .contrary = {"The paper's scores are shuffled among the models.", "논문의 점수를 모델들 사이에서 뒤섞습니다."},
      .planted = {"The worse a model is in the paper, the fewer steps it is trained for here.",
                  "논문에서 나쁜 모델일수록 여기서 더 적은 스텝만 학습합니다."},
      .parts = {{"rho",
                 {"Spearman's ρ between our loss and the paper's BLEU over eight models",
                  "여덟 모델에서 우리 손실과 논문 BLEU의 스피어만 ρ"},
                 Measure::Must::at_least,
                 0.6,
                 true},
                {"rho_perplexity",
                 {"the same with the paper's perplexity", "논문의 퍼플렉서티로 구한 ρ"},
                 Measure::Must::at_least,
                 0.6},
                {"parameters",
                 {"factor between our count of parameters and the paper's, at worst",
                  "매개변수 수의 우리 계산과 논문의 배수 (최악)"},
                 Measure::Must::at_most,
                 1.1},
                {"cost",
                 {"factor between the computed and the stated training cost, at worst",
                  "계산한 학습 비용과 논문의 배수 (최악)"},
                 Measure::Must::at_most,
                 4},
                {"learned_positions",
                 {"difference of the losses with learned and with sinusoidal positions, nats per token",
                  "학습된 위치와 사인파 위치의 손실 차이, 토큰당 nat"},
                 Measure::Must::at_most,
                 0.05}},
      .baseline = Measure{"learned",
                          {"loss of the base model as a share of guessing evenly",
                           "기본 모델의 손실 / 고르게 추측할 때의 손실"},
                          Measure::Must::at_most,
                          0.65},
      .full_seconds = 91,
      .quick_seconds = 20,
      .revision = 3,
      .units = units,
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
