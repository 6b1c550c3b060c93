// The tables of "Attention Is All You Need": parameters and cost computed, and the shape of Table 3's variations on a
// text that fits a small machine.

#include <fmt/format.h>

#include "base/file.h"
#include "base/random.h"
#include "corpora/english_korean.h"
#include "experiments/known_configs.h"
#include "experiments/lab.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/statistics.h"
#include "models/model.h"
#include "models/parameter_table.h"

namespace limpid {
namespace {

// A row of Table 3, scaled down: width 512 → 64, feed-forward 2048 → 256, 6 layers → 3, 8 heads → 4. Those are ranked
// whose BLEU differs from the base model's 25.8 by 0.5 or more, and the base itself.
struct Variation {
  const char* unit;
  const char* change;  // in the paper
  double bleu;         // there, on newstest2013
  std::vector<std::string> keys;
  bool ranked = true;  // false: too near to the base for its place to mean anything
};

std::vector<std::string> both(const std::vector<std::string>& keys) {
  std::vector<std::string> all;
  for (const std::string& key : keys)
    for (const char* side : {"encoder", "decoder"}) all.push_back(fmt::format("model.{}_{}", side, key));
  return all;
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::vector<Variation>& variations() {
  static const std::vector<Variation> all = {
      {"base", "–", 25.8, {}},
      {"one head", "h = 1, d_k = 512", 24.9, both({"attention_heads=1"})},
      {"2 of 6 layers", "N = 2", 23.7, both({"layers=1"})},
      {"4 of 6 layers", "N = 4", 25.3, both({"layers=2"})},
      {"half width", "d_model = 256", 24.5, {"model.d_model=32"}},
      {"no dropout", "P_drop = 0", 24.6, {"model.dropout=0.0"}},
      {"no smoothing", "ε_ls = 0", 25.3, {"optimizer.label_smoothing=0.0"}},
      {"big", "d_model = 1024, d_ff = 4096, h = 16, P_drop = 0.3", 26.4,
       joined({"model.d_model=128", "model.dropout=0.3"}, both({"ffn_dim=512", "attention_heads=8"}))},
      {"learned positions", "positions learned", 25.7, {"model.limpid.positions=\"learned\""}, false},
  };
  return all;
}

constexpr const char* kRecipe = R"(
[data]
train = ["train.en", "train.ko"]
valid = ["valid.en", "valid.ko"]
[tokenizer]
kind = "unigram"
vocab = 1000
[model]
model_type = "marian"
d_model = 64
encoder_layers = 3
decoder_layers = 3
encoder_attention_heads = 4
decoder_attention_heads = 4
encoder_ffn_dim = 256
decoder_ffn_dim = 256
activation_function = "relu"
scale_embedding = true
max_position_embeddings = 128
dropout = 0.1
[optimizer]
clip_norm = 1.0
label_smoothing = 0.1
[schedule]
kind = "inverse-sqrt"
learning_rate = 0.003
warmup = 100
[batch]
tokens = 1024
[validation]
steps = 100000
translate = 300
metric = "bleu"
show = 0
[checkpoint]
steps = 100000
keep = 1
[decode]
beam = 1
)";

// So few pairs that a model learns them by heart before it is done.
LabCorpus pairs(const Lab& lab) {
  const auto lines = lab.pick<int64_t>(1500, 1000, 200), held_out = lab.pick<int64_t>(300, 150, 20);
  return {.key = fmt::format("english-korean {} {}", lines, held_out),
          .write = [=](const std::filesystem::path& folder) {
            const EnglishKorean corpus;
            for (const Split split : {Split::train, Split::valid}) {
              std::string english, korean;
              for (int64_t i = 0; i < (split == Split::train ? lines : held_out); ++i) {
                const SentencePair pair = corpus.pair(static_cast<uint64_t>(i), split);
                english += pair.english + "\n";
                korean += pair.korean + "\n";
              }
              write_text(folder / fmt::format("{}.en", split_name(split)), english);
              write_text(folder / fmt::format("{}.ko", split_name(split)), korean);
            }
          }};
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
    const int64_t count =
        parameter_table([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); }).total();
    json[paper.name] = {{"parameters", count},
                        {"paper_parameters", paper.parameters},
                        {"flops", 6 * static_cast<double>(count) * kTokens * paper.steps},
                        {"paper_flops", paper.flops}};
  }
  return json;
}

Json measure(Lab& lab, const std::string& unit) {
  if (unit == "computed") return computed();
  for (const Variation& one : variations()) {
    if (unit != one.unit) continue;
    std::vector<std::string> keys = {fmt::format("stop.steps={}", lab.pick(800, 120, 5))};
    const LabModel model = lab.train(kRecipe, joined(keys, one.keys), pairs(lab));
    Json json = {{"bleu", model.bleu}, {"loss", model.loss}, {"paper", one.bleu}};
    if (!lab.contrary()) return json;
    // The contrary: the score of another row stands beside the model.
    std::vector<double> scores;
    for (const Variation& other : variations()) scores.push_back(other.bleu);
    Random random(random_key(lab.seed(), 0, 81));
    for (size_t i = scores.size(); i > 1; --i) std::swap(scores[i - 1], scores[random.below(static_cast<int64_t>(i))]);
    json["paper"] = scores[static_cast<size_t>(&one - variations().data())];
    return json;
  }
  return {};
}

std::vector<std::string> units(const Lab&) {
  std::vector<std::string> names = {"computed"};
  for (const Variation& one : variations()) names.emplace_back(one.unit);
  return names;
}

Json numbers(const Json& units) {
  std::vector<double> ours, losses, paper;
  for (const Variation& one : variations()) {
    if (!one.ranked) continue;
    const Json& unit = units.at(one.unit);
    ours.push_back(unit.at("bleu"));
    losses.push_back(-unit.at("loss").get<double>());
    paper.push_back(unit.at("paper"));
  }
  const auto off = [&](const char* model, const char* key) {
    const Json& json = units.at("computed").at(model);
    const double ratio = json.at(key).get<double>() / json.at(std::string("paper_") + key).get<double>();
    return std::max(ratio, 1 / ratio);
  };
  return {{"rho", spearman(ours, paper)},
          {"rho_loss", spearman(losses, paper)},
          {"parameters", std::max(off("Transformer base", "parameters"), off("Transformer big", "parameters"))},
          {"cost", std::max(off("Transformer base", "flops"), off("Transformer big", "flops"))},
          {"learned", units.at("base").at("bleu")}};
}

std::vector<Figure> figures(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Chart chart{.title = word("Variations of the base model: BLEU in the paper and here",
                            "기본 모델의 변형: 논문의 BLEU와 여기의 BLEU"),
              .x_name = word("BLEU in the paper", "논문의 BLEU"),
              .y_name = word("BLEU here", "여기의 BLEU")};
  ChartSeries series{.name = word("mean over the seeds", "시드 평균"), .line = false};
  for (const Variation& one : variations())
    series.points.push_back({mean_of(result, one.unit, "/paper"), mean_of(result, one.unit, "/bleu")});
  chart.series = {series};
  return {{.chart = chart}};
}

std::vector<Table> tables(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Table rows{.caption = word("Table 3 of the paper and our small copy of it, mean over the seeds",
                             "논문의 표 3과 작은 재현, 시드 평균"),
             .columns = {"", word("in the paper", "논문에서"), word("BLEU, paper", "BLEU (논문)"),
                         word("BLEU, here", "BLEU (여기)"), word("loss, here", "손실 (여기)")},
             .rows = {}};
  for (const Variation& one : variations())
    rows.rows.push_back({one.unit, one.change, fmt::format("{:.1f}", one.bleu),
                         fmt::format("{:.1f}", mean_of(result, one.unit, "/bleu")),
                         fmt::format("{:.3f}", mean_of(result, one.unit, "/loss"))});
  Table cost{.caption = word("Tables 2 and 3: parameters and training cost, computed from the config",
                             "표 2와 3: 설정에서 계산한 파라미터 수와 학습 비용"),
             .columns = {"", word("parameters", "파라미터"), word("paper", "논문"), word("operations", "연산 수"),
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
           "트랜스포머의 파라미터 수와 학습 비용은 논문이 적은 대로이며, 변형들의 순위는 표 3과 같습니다."},
      .origin = {"Paper \"Attention Is All You Need\" (Vaswani et al. 2017), Tables 2 and 3",
                 "논문 \"Attention Is All You Need\" (Vaswani 외 2017), 표 2와 3"},
      .method =
          {"Parameters are counted from the configs of the base and the big model; the cost is six operations per "
           "parameter and target token. The rows of Table 3 that differ from the base by half a BLEU point or more are "
           "scaled down to width 64 and three layers. Each is trained alike on 1,500 English-Korean pairs of the "
           "grammar, few enough to be learned by heart. BLEU is measured on held-out pairs by greedy search. "
           "Spearman's ρ "
           "compares our order of the eight models with the paper's.",
           "기본 모델과 큰 모델의 설정에서 파라미터를 세고, 비용은 파라미터와 목표 토큰마다 여섯 번의 연산으로 셉니다. "
           "표 3에서 "
           "기본 모델과 BLEU가 0.5 이상 다른 행들을 폭 64, 세 층으로 줄입니다. 외울 수 있을 만큼 적은 영한 문장 쌍 "
           "1,500개로 "
           "똑같이 학습합니다. 학습하지 않은 쌍에서 탐욕 탐색으로 BLEU를 잽니다. 여덟 모델의 순위를 스피어만 ρ로 "
           "논문과 비교합니다."},
      .reported = {"65 and 213 million parameters, 3.3·10¹⁸ and 2.3·10¹⁹ operations (estimated from hours of GPU), "
                   "BLEU from 23.7 "
                   "to 26.4 on newstest2013.",
                   "파라미터 6,500만과 2억 1,300만, 연산 3.3·10¹⁸과 2.3·10¹⁹ (GPU 시간에서 추정), newstest2013의 BLEU "
                   "23.7–26.4."},
      .contrary = {"The paper's scores are shuffled among the models.", "논문의 점수를 모델들 사이에서 뒤섞습니다."},
      .parts =
          {{"rho",
            {"Spearman's ρ between our BLEU and the paper's over eight models",
             "여덟 모델에서 우리 BLEU와 논문 BLEU의 스피어만 ρ"},
            Measure::Must::at_least,
            0.6,
            true},
           {"rho_loss", {"the same by loss instead of BLEU", "BLEU 대신 손실로 구한 ρ"}, Measure::Must::at_least, 0.6},
           {"parameters",
            {"factor between our count of parameters and the paper's, at worst",
             "파라미터 수의 우리 계산과 논문의 배수 (최악)"},
            Measure::Must::at_most,
            1.1},
           {"cost",
            {"factor between the computed and the stated training cost, at worst",
             "계산한 학습 비용과 논문의 배수 (최악)"},
            Measure::Must::at_most,
            4}},
      .baseline =
          Measure{"learned", {"BLEU of the base model here", "여기서 기본 모델의 BLEU"}, Measure::Must::at_least, 10},
      .minutes = 15,
      .quick_seconds = 60,
      .units = units,
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
