// Residual connections: how much of the gradient reaches the first blocks, and which depth still trains.

#include <fmt/format.h>

#include <map>

#include "base/random.h"
#include "experiments/english_text.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/untrained.h"
#include "training/recipe.h"

namespace limpid {
namespace {

constexpr int64_t kGradientDepths[] = {2, 4, 8, 16, 32};
constexpr int64_t kTrainedDepths[] = {2, 4, 8, 16, 32};
constexpr int64_t kJudged = 16;   // blocks, where a gain is asked for
constexpr double kTrains = 0.65;  // of the loss of guessing evenly: what still trains is below

std::vector<std::string> keys_of(int64_t layers, bool residual, bool before = true) {
  return {fmt::format("model.n_layer={}", layers),
          "model.n_embd=32",
          "model.n_inner=128",
          "model.n_head=2",
          fmt::format("model.limpid.residual={}", residual),
          fmt::format("model.limpid.norm_place=\"{}\"", before ? "before" : "after")};
}

// Norm of the gradient of each block's weights, first to last, at the start of training.
std::vector<double> gradient_by_block(int64_t layers, bool residual, uint64_t seed) {
  Json config = parse_recipe(kEnglishRecipe, "experiment", keys_of(layers, residual)).model;
  constexpr int64_t kVocab = 101, kTexts = 16, kTokens = 24;
  config["vocab_size"] = kVocab;
  UntrainedModel model(parse_config(config), seed);
  Random random(random_key(seed, 0, 61));
  std::vector<std::vector<int32_t>> texts(kTexts, std::vector<int32_t>(kTokens));
  for (auto& text : texts)
    for (int32_t& id : text) id = static_cast<int32_t>(random.below(kVocab));
  Gradients gradients(*model.parameters);
  gradients.clear();
  const Arena arena;
  Tape tape(arena, &gradients);
  Run run({.arena = arena, .tape = &tape, .train = true});
  model.model->loss(run, Batch::next_tokens(texts), {});
  tape.backward();
  gradients.finish();
  std::vector<double> squares(layers);
  for (const Weight& weight : model.parameters->weights()) {
    const size_t at = weight.name.find("h.");  // GPT-2's "transformer.h.3.…"
    if (at == std::string::npos) continue;
    const ConstMatrix gradient = gradients.of(weight);
    double& square = squares.at(static_cast<size_t>(std::atoi(weight.name.c_str() + at + 2)));
    for (int64_t i = 0; i < gradient.size(); ++i)
      square += static_cast<double>(gradient.data[i]) * static_cast<double>(gradient.data[i]);
  }
  for (double& square : squares) square = std::sqrt(square);
  return squares;
}

Json gradients(const Lab& lab) {
  Json json = Json::object();
  for (int64_t layers : kGradientDepths)
    for (const bool residual : {true, false})
      json[fmt::format("{} {}", residual ? "with" : "without", layers)] =
          gradient_by_block(layers, residual && !lab.contrary(), lab.seed());
  return json;
}

std::string trained_name(bool residual, int64_t layers) {
  return fmt::format("{} {}", residual ? "with" : "without", layers);
}

struct WarmUp {
  const char* unit;
  bool before, warm;
  Words name;
};
constexpr WarmUp kWarmUps[] = {
    {"pre-norm, warm-up", true, true, {"norm before, warm-up", "정규화 먼저, 워밍업 있음"}},
    {"pre-norm, none", true, false, {"norm before, no warm-up", "정규화 먼저, 워밍업 없음"}},
    {"post-norm, warm-up", false, true, {"norm after, warm-up", "정규화 나중, 워밍업 있음"}},
    {"post-norm, none", false, false, {"norm after, no warm-up", "정규화 나중, 워밍업 없음"}}};
constexpr int64_t kWarmUpDepth = 8;

std::vector<std::string> units(const Lab& lab) {
  std::vector<std::string> names = {"gradients"};
  for (int64_t layers : kTrainedDepths) {
    if ((lab.size() != Size::full && layers == 4) || (lab.size() == Size::tiny && layers == 32)) continue;
    for (const bool residual : {true, false}) names.push_back(trained_name(residual, layers));
  }
  if (lab.size() != Size::tiny)
    for (const WarmUp& one : kWarmUps) names.emplace_back(one.unit);
  return names;
}

Json train_one(Lab& lab, std::vector<std::string> keys) {
  keys.push_back(fmt::format("stop.steps={}", lab.pick(400, 120, 5)));
  const LabModel model = lab.train(kEnglishRecipe, keys, english_corpus(english_text(lab)));
  const Session session = open_session(model.folder);
  return {{"loss", model.loss}, {"uniform", std::log(static_cast<double>(session.config().vocab))}};
}

Json measure(Lab& lab, const std::string& unit) {
  if (unit == "gradients") return gradients(lab);
  for (const WarmUp& one : kWarmUps) {
    if (unit != one.unit) continue;
    std::vector<std::string> keys = keys_of(kWarmUpDepth, true, one.before);
    keys.emplace_back(one.warm ? "schedule.warmup=50" : "schedule.warmup=0");
    return train_one(lab, keys);
  }
  const int64_t layers = std::stoll(unit.substr(unit.find(' ') + 1));
  // The shallow model with residuals is the baseline and stays as it is in the contrary.
  const bool residual = unit.starts_with("with ") && (!lab.contrary() || layers == kTrainedDepths[0]);
  if (unit.starts_with("with ") && !residual) lab.instead_of(unit);
  return train_one(lab, keys_of(layers, residual));
}

Json numbers(const Json& units) {
  const int64_t most = *std::rbegin(kGradientDepths);
  const auto loss = [&](bool residual, int64_t layers) {
    return units.at(trained_name(residual, layers)).at("loss").get<double>();
  };
  const auto reach = [&](bool residual) {
    const std::vector<double> norms = units.at("gradients").at(trained_name(residual, most));
    return norms.front() / norms.back();
  };
  // The deepest of the models that trained; 0: none did.
  const auto trains = [&](bool residual) {
    int64_t deepest = 0;
    for (int64_t layers : kTrainedDepths) {
      const auto unit = units.find(trained_name(residual, layers));
      if (unit != units.end() && unit->at("loss").get<double>() <= kTrains * unit->at("uniform").get<double>())
        deepest = layers;
    }
    return deepest;
  };
  Json warm = Json::object();
  if (units.contains(kWarmUps[0].unit)) {
    const auto of = [&](int i) { return units.at(kWarmUps[i].unit).at("loss").get<double>(); };
    warm = {{"pre_norm_cold", of(1) - of(0)}, {"post_norm_cold", of(3) - of(2)}};
  }
  Json numbers = {{"gain", loss(false, kJudged) - loss(true, kJudged)},
                  {"shallow_gain", loss(false, kTrainedDepths[0]) - loss(true, kTrainedDepths[0])},
                  {"deep", loss(true, kJudged) - loss(true, kTrainedDepths[0])},
                  {"depth_with", trains(true)},
                  {"depth_without", trains(false)},
                  {"reach_with", reach(true)},
                  {"reach_without", reach(false)},
                  {"learned", loss(true, kTrainedDepths[0]) /
                                  units.at(trained_name(true, kTrainedDepths[0])).at("uniform").get<double>()}};
  numbers.update(warm);
  return numbers;
}

std::vector<Figure> figures(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Chart gradient{.title = word("Gradient norm by block, 32 blocks, log₁₀", "블록별 기울기 크기 (블록 32개, log₁₀)"),
                 .x_name = word("block", "블록"),
                 .y_name = "log₁₀"};
  Chart trained{.title = word("Loss by depth", "깊이별 손실"),
                .x_name = word("blocks", "블록 수"),
                .y_name = word("nats per token", "토큰당 nats"),
                .log_x = true};
  const Json& first = result.at("seeds").at(0).at("units");
  for (const bool residual : {true, false}) {
    const char* name = residual ? word("with residuals", "잔차 연결 있음") : word("without", "잔차 연결 없음");
    ChartSeries norms{.name = name}, losses{.name = name};
    double block = 1;
    for (double norm : curve_of(result, "gradients", "/" + trained_name(residual, 32)))
      norms.points.push_back({block++, std::log10(std::max(norm, 1e-30))});
    for (int64_t layers : kTrainedDepths)
      if (first.contains(trained_name(residual, layers)))
        losses.points.push_back(
            {static_cast<double>(layers), mean_of(result, trained_name(residual, layers), "/loss")});
    gradient.series.push_back(norms);
    trained.series.push_back(losses);
  }
  Chart reach{.title = word("Gradient norm of the first block over that of the last, by depth (log₁₀)",
                            "깊이에 따른 첫 블록 / 마지막 블록의 기울기 (log₁₀)"),
              .x_name = word("blocks", "블록 수"),
              .y_name = "log₁₀",
              .log_x = true};
  for (const bool residual : {true, false}) {
    ChartSeries series{.name = residual ? word("with residuals", "잔차 연결 있음") : word("without", "잔차 연결 없음")};
    for (int64_t layers : kGradientDepths) {
      const std::vector<double> norms = curve_of(result, "gradients", "/" + trained_name(residual, layers));
      series.points.push_back(
          {static_cast<double>(layers), std::log10(std::max(norms.front() / std::max(norms.back(), 1e-30), 1e-30))});
    }
    reach.series.push_back(series);
  }
  return {{.chart = trained}, {.chart = gradient}, {.chart = reach}};
}

std::vector<Table> tables(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  const Json& first = result.at("seeds").at(0).at("units");
  Table depth{.caption = word("Nats per token on held-out sentences, mean over the seeds; norm before each sub-layer",
                              "학습하지 않은 문장의 토큰당 nats, 시드 평균 (정규화 먼저)"),
              .columns = {word("blocks", "블록 수"), word("with residuals", "잔차 연결 있음"),
                          word("without", "잔차 연결 없음")},
              .rows = {}};
  for (int64_t layers : kTrainedDepths)
    if (first.contains(trained_name(true, layers)))
      depth.rows.push_back({fmt::format("{}", layers),
                            fmt::format("{:.3f}", mean_of(result, trained_name(true, layers), "/loss")),
                            fmt::format("{:.3f}", mean_of(result, trained_name(false, layers), "/loss"))});
  if (!first.contains(kWarmUps[0].unit)) return {depth};
  Table warm{.caption = word("Eight blocks with residuals: where the norm stands, and warm-up",
                             "잔차 연결이 있는 블록 여덟 개: 정규화의 위치와 워밍업"),
             .columns = {"", word("nats per token", "토큰당 nats")},
             .rows = {}};
  for (const WarmUp& one : kWarmUps)
    warm.rows.push_back({one.name.in(language), fmt::format("{:.3f}", mean_of(result, one.unit, "/loss"))});
  return {depth, warm};
}

}  // namespace

Experiment residuals_experiment() {
  return {
      .number = 11,
      .name = "residuals",
      .title = {"Residual connections", "잔차 연결"},
      .claim = {"Residual connections let the training signal reach deep layers, so that deep models train.",
                "잔차 연결은 학습 신호가 깊은 층까지 닿게 하여 깊은 모델이 학습되게 합니다."},
      .origin = {"Textbook chapter on the Transformer; after \"Deep Residual Learning\" (He et al. 2015)",
                 "트랜스포머를 다룬 교재의 장, \"Deep Residual Learning\" (He 외 2015)"},
      .method =
          {"Before training, the norm of the gradient of every block's weights is computed in models of 2 to 32 "
           "blocks, "
           "with and without residual connections. Small language models of 2 to 32 blocks of width 32 are trained "
           "alike with and without them. Their loss on held-out sentences says which depth still learns. Eight blocks "
           "are trained once more with the norm before or after each sub-layer, with a warm-up of 50 steps or none. "
           "Norms stay in place everywhere, so that what differs is the residual connection alone.",
           "학습 전에 블록 2개에서 32개까지의 모델에서 잔차 연결이 있을 때와 없을 때 블록별 기울기의 크기를 구합니다. "
           "폭 32, 블록 2개에서 32개까지의 작은 언어 모델을 잔차 연결만 다르게 하여 똑같이 학습합니다. 학습하지 않은 "
           "문장의 "
           "손실로 어느 깊이까지 배우는지 봅니다. 블록 8개에서는 정규화를 부분층 앞이나 뒤에 두고, 50단계 워밍업이 "
           "있을 "
           "때와 없을 때를 더 학습합니다. 정규화는 늘 그대로이므로 다른 것은 잔차 연결뿐입니다."},
      .reported =
          {"He et al. 2015 train networks of 152 layers by residual connections; Dong et al. 2021 show that "
           "attention alone loses the differences between tokens doubly exponentially with depth, and that "
           "residual connections prevent it. Xiong et al. 2020: post-norm needs a warm-up, pre-norm does not.",
           "He 외 2015는 잔차 연결로 152층까지 학습합니다. Dong 외 2021은 잔차 연결이 없으면 깊어질수록 토큰 사이의 "
           "차이가 급격히 사라짐을 보입니다. Xiong 외 2020: 정규화가 나중이면 워밍업이 필요하고, 먼저면 필요 "
           "없습니다."},
      .contrary = {"The deep models have no residual connections either.", "깊은 모델 모두에서 잔차 연결을 없앱니다."},
      .parts = {{"gain",
                 {"nats per token that residual connections gain at 16 blocks",
                  "블록 16개에서 잔차 연결이 줄이는 토큰당 nats"},
                 Measure::Must::at_least,
                 0.5,
                 true},
                {"deep",
                 {"nats per token by which 16 blocks with residuals are worse than 2",
                  "잔차 연결이 있을 때 블록 16개가 2개보다 더 잃는 nats"},
                 Measure::Must::at_most,
                 0.3},
                {"depth_with",
                 {"most blocks with which a model with residuals still trains (2 to 32; loss at most 0.65 of guessing)",
                  "잔차 연결이 있을 때 아직 학습되는 가장 많은 블록 수 (2~32, 손실이 추측의 0.65 이하)"},
                 Measure::Must::at_least,
                 32},
                {"depth_without",
                 {"the same without residuals (0: not even 2)", "잔차 연결이 없을 때 (0: 2개도 안 됨)"},
                 Measure::Must::at_most,
                 8},
                {"pre_norm_cold",
                 {"nats per token that 8 blocks with the norm before lose without a warm-up",
                  "정규화가 먼저인 블록 8개가 워밍업 없이 잃는 토큰당 nats"},
                 Measure::Must::at_most,
                 0.1},
                {"post_norm_cold",
                 {"the same with the norm after, which needs a warm-up", "워밍업이 필요하다는, 정규화가 나중일 때"},
                 Measure::Must::at_least,
                 0.1},
                {"reach_with",
                 {"gradient norm of the first block over the last, 32 blocks with residuals",
                  "블록 32개, 잔차 있음: 첫 블록 / 마지막 블록의 기울기"},
                 Measure::Must::at_least,
                 0.1},
                {"reach_without", {"the same without", "잔차 연결이 없을 때 같은 비율"}, Measure::Must::at_most, 0.01}},
      .baseline = Measure{"learned",
                          {"loss of two blocks with residuals as a share of guessing evenly",
                           "블록 2개(잔차 있음)의 손실 / 고르게 추측할 때의 손실"},
                          Measure::Must::at_most,
                          kTrains},
      .full_seconds = 81,
      .quick_seconds = 8,
      .revision = 2,
      .units = units,
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
