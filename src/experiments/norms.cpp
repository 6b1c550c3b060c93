// Batch norm and layer norm on text whose lines differ in length.

#include <fmt/format.h>

#include "experiments/english_text.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "training/example_batch.h"

namespace limpid {
namespace {

constexpr int64_t kBatches[] = {2, 8, 32};  // texts per batch

EnglishText varying_text(const Lab& lab) {
  return {
      .train = lab.pick<int64_t>(8000, 4000, 500), .valid = lab.pick<int64_t>(200, 100, 20), .fewest = 1, .most = 6};
}

std::string unit_name(const char* norm, int64_t texts) { return fmt::format("{} {}", norm, texts); }

// Nats per token with the statistics of each batch itself, as in training: what a model with layer norm does not
// notice.
double loss_in_training_mode(const Session& session, const std::vector<std::vector<int32_t>>& texts,
                             int64_t per_batch) {
  double sum = 0;
  int64_t tokens = 0;
  const Arena arena;
  for (size_t begin = 0; begin + static_cast<size_t>(per_batch) <= texts.size();
       begin += static_cast<size_t>(per_batch)) {
    const auto first = texts.begin() + static_cast<ptrdiff_t>(begin);
    Run run({.arena = arena, .train = true});
    const Loss loss = session.model().loss(run, Batch::next_tokens({first, first + per_batch}), {});
    sum += loss.sum();
    tokens += loss.tokens();
  }
  return sum / static_cast<double>(tokens);
}

Json measure(Lab& lab, const std::string& unit) {
  const int64_t texts = std::stoll(unit.substr(unit.find(' ') + 1));
  const bool batch_norm = unit.starts_with("batch") && !lab.contrary();
  const LabCorpus corpus = english_corpus(varying_text(lab));
  std::vector<std::string> keys = {fmt::format("stop.steps={}", lab.pick(1200, 800, 20)),
                                   fmt::format("batch.sequences={}", texts), "batch.tokens=100000",
                                   "schedule.learning_rate=0.002"};
  if (!lab.planted()) keys.emplace_back("batch.by_length=false");
  if (unit.starts_with("batch") && !batch_norm) lab.instead_of(unit);
  if (batch_norm) keys.emplace_back("model.limpid.norm=\"batch\"");
  const LabModel model = lab.train(kEnglishRecipe, keys, corpus);
  const Session session = open_session(model.folder);
  const auto valid = read_ids(session, lab.corpus(corpus) / "valid.txt", varying_text(lab).valid);
  return {{"loss", model.loss},
          {"loss_in_training_mode", loss_in_training_mode(session, valid, texts)},
          {"uniform", std::log(static_cast<double>(session.config().vocab))}};
}

Json numbers(const Json& units) {
  const auto number = [&](const char* norm, int64_t texts, const char* key) {
    return units.at(unit_name(norm, texts)).at(key).get<double>();
  };
  const auto gap = [&](int64_t texts) { return number("batch", texts, "loss") - number("layer", texts, "loss"); };
  const auto discrepancy = [&](const char* norm) {
    return std::abs(number(norm, kBatches[0], "loss") - number(norm, kBatches[0], "loss_in_training_mode"));
  };
  return {{"gap", gap(kBatches[0])},
          {"discrepancy", discrepancy("batch")},
          {"layer_discrepancy", discrepancy("layer")},
          {"shrinks", gap(kBatches[0]) - gap(kBatches[2])},
          {"gap_large", gap(kBatches[2])},
          {"learned", number("layer", kBatches[2], "loss") / number("layer", kBatches[2], "uniform")}};
}

std::vector<Figure> figures(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Chart chart{.title = word("Loss on held-out texts by batch size", "배치 크기별 손실 (학습하지 않은 글)"),
              .x_name = word("texts per batch", "배치당 글 수"),
              .y_name = word("nats per token", "토큰당 nats"),
              .log_x = true};
  const auto add = [&](const char* name, const char* norm, const char* pointer) {
    ChartSeries series{.name = name};
    for (int64_t texts : kBatches)
      series.points.push_back({static_cast<double>(texts), mean_of(result, unit_name(norm, texts), pointer)});
    chart.series.push_back(series);
  };
  add(word("layer norm", "층 정규화"), "layer", "/loss");
  add(word("batch norm, as it is used", "배치 정규화 (추론 모드)"), "batch", "/loss");
  add(word("batch norm, as in training", "배치 정규화 (학습 모드)"), "batch", "/loss_in_training_mode");
  return {{.chart = chart}};
}

std::vector<Table> tables(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Table table{
      .caption =
          word("Nats per token on held-out texts, mean over the seeds", "학습하지 않은 글의 토큰당 nats, 시드 평균"),
      .columns = {word("texts per batch", "배치당 글 수"), word("layer norm", "층 정규화"),
                  word("batch norm", "배치 정규화"), word("batch norm in training mode", "배치 정규화 (학습 모드)")},
      .rows = {}};
  for (int64_t texts : kBatches)
    table.rows.push_back({fmt::format("{}", texts),
                          fmt::format("{:.3f}", mean_of(result, unit_name("layer", texts), "/loss")),
                          fmt::format("{:.3f}", mean_of(result, unit_name("batch", texts), "/loss")),
                          fmt::format("{:.3f}", mean_of(result, unit_name("batch", texts), "/loss_in_training_mode"))});
  return {table};
}

std::vector<std::string> units(const Lab&) {
  std::vector<std::string> names;
  for (int64_t texts : kBatches)
    for (const char* norm : {"layer", "batch"}) names.push_back(unit_name(norm, texts));
  return names;
}

}  // namespace

Experiment norms_experiment() {
  return {
      .number = 10,
      .name = "norms",
      .title = {"Batch norm and layer norm", "배치 정규화와 층 정규화"},
      .claim = {"Batch normalisation suits text of varying length badly; layer normalisation suits it well.",
                "길이가 제각각인 글에는 배치 정규화가 잘 맞지 않고, 층 정규화가 잘 맞습니다."},
      .origin = {"Textbook chapter on the Transformer", "트랜스포머를 다룬 교재의 장"},
      .method =
          {"Small language models are trained on texts of one to six sentences, alike but for the norm. Batches have "
           "2, 8 "
           "or 32 texts drawn at random, whatever their lengths; there is no padding, so that batch norm sees true "
           "tokens only. The loss on held-out texts, mixed alike, is "
           "measured as the model is used, with batch norm's running statistics. It is measured again with the "
           "statistics of each batch, as in training. The difference between both is what training hides.",
           "한 문장에서 여섯 문장까지의 글로 정규화만 다른 작은 언어 모델들을 학습합니다. 배치는 길이와 상관없이 "
           "무작위로 "
           "뽑은 글 2, 8, 32개이고, 패딩이 "
           "없으므로 배치 정규화는 실제 토큰만 봅니다. 똑같이 섞은, 학습하지 않은 글의 손실을 모델을 쓸 때처럼 이동 "
           "통계로 잽니다. "
           "학습 때처럼 각 배치의 통계로 다시 잽니다. 둘의 차이가 학습이 감추는 것입니다."},
      .reported =
          {"Shen et al. 2020 (\"PowerNorm\") find batch norm clearly worse than layer norm in Transformers for "
           "translation and language modelling, because batch statistics of text fluctuate.",
           "Shen 외 2020 (\"PowerNorm\")은 글의 배치 통계가 크게 흔들리기 때문에 번역과 언어 모델에서 배치 정규화가 "
           "층 정규화보다 분명히 나쁘다고 보고합니다."},
      .contrary = {"Layer norm stands in batch norm's place.", "배치 정규화 자리에 층 정규화를 씁니다."},
      .planted = {"The texts of a batch have nearly one length, as training gathers them; those that judge are mixed.",
                  "학습이 모으는 대로 한 배치의 글은 길이가 거의 같고, 판정하는 글은 섞여 있습니다."},
      .parts = {{"gap",
                 {"nats per token by which batch norm is worse with 2 texts per batch",
                  "배치당 글 2개일 때 배치 정규화가 더 잃는 토큰당 nats"},
                 Measure::Must::at_least,
                 0.1,
                 true},
                {"discrepancy",
                 {"batch norm: difference between training mode and use, 2 texts per batch",
                  "배치 정규화: 학습 모드와 사용할 때의 차이 (배치당 글 2개)"},
                 Measure::Must::at_least,
                 0.05},
                {"layer_discrepancy",
                 {"layer norm: the same difference", "층 정규화: 같은 차이"},
                 Measure::Must::at_most,
                 0.001},
                {"shrinks",
                 {"by which the gap is smaller with 32 texts per batch", "배치당 글 32개일 때 격차가 줄어드는 정도"},
                 Measure::Must::at_least,
                 0.05},
                {"gap_large",
                 {"nats per token by which batch norm is worse with 32 texts per batch",
                  "배치당 글 32개일 때 배치 정규화가 더 잃는 토큰당 nats"},
                 Measure::Must::at_least,
                 0}},
      .baseline =
          Measure{"learned",
                  {"loss with layer norm as a share of guessing evenly", "층 정규화의 손실 / 고르게 추측할 때의 손실"},
                  Measure::Must::at_most,
                  0.6},
      .full_seconds = 46,
      .quick_seconds = 10,
      .revision = 2,
      .units = units,
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
