// 7. ReLU drops the negative part, GELU keeps a little of it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "corpora/facts.h"
#include "experiments/lab.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/tasks.h"
#include "inspect/session.h"
#include "kernels/activation.h"

namespace limpid {
namespace {

constexpr double kFrom = -4, kTo = 4;
constexpr int64_t kPoints = 81;

std::vector<double> curve(Activation activation) {
  std::vector<real> x(kPoints), y(kPoints);
  for (int64_t i = 0; i < kPoints; ++i)
    x[i] = static_cast<real>(kFrom + (kTo - kFrom) * static_cast<double>(i) / static_cast<double>(kPoints - 1));
  kernels::activation_forward(activation, {}, {x.data(), 1, kPoints}, {y.data(), 1, kPoints});
  return {y.begin(), y.end()};
}

// The mean size of what comes out for negative inputs of the curve.
double kept_of_negatives(const std::vector<double>& y) {
  constexpr int64_t kNegative = kPoints / 2;
  double sum = 0;
  for (int64_t i = 0; i < kNegative; ++i) sum += std::abs(y[i]);
  return sum / static_cast<double>(kNegative);
}

Json curves(const Lab& lab) {
  const std::vector<double> relu = curve(lab.contrary() ? Activation::gelu : Activation::relu);
  const std::vector<double> gelu = curve(Activation::gelu), silu = curve(Activation::silu);
  return {{"relu", relu},
          {"gelu", gelu},
          {"silu", silu},
          {"relu_kept", kept_of_negatives(relu)},
          {"gelu_kept", kept_of_negatives(gelu)}};
}

// A gate is a third matrix: two thirds of the features make as many parameters.
std::vector<std::string> overrides_of(const Lab& lab, const std::string& unit) {
  if (unit == "swiglu") return {"model.limpid={activation=\"silu\", gated=true}", "model.n_inner=171"};
  if (unit == "relu" && !lab.contrary()) return {};  // as the recipe has it
  return {"model.limpid.activation=\"gelu\""};
}

// The share of activations that are exactly zero, layer by layer, while the model reads facts it was trained on.
std::vector<double> zeros_by_layer(const Session& session, int64_t texts) {
  const int64_t layers = session.config().stack().layers;
  std::vector<double> zeros(layers), all(layers);
  FunctionProbe probe;
  for (int64_t layer = 0; layer < layers; ++layer)
    probe.on(fmt::format("blocks.{}.ffn.post", layer), [&, layer](const Tap& tap) {
      const ConstMatrix y = tap.value.values();
      for (int64_t i = 0; i < y.rows; ++i)
        zeros[layer] += static_cast<double>(std::count(y.row(i), y.row(i) + y.cols, real{0}));
      all[layer] += static_cast<double>(y.rows * y.cols);
    });
  const FactWorld world;
  for (int64_t i = 0; i < texts; ++i)
    forward_logits(session.model(),
                   session.example({.text = world.training(static_cast<uint64_t>(i)).text(), .target = {}}), &probe);
  for (int64_t layer = 0; layer < layers; ++layer) zeros[layer] /= all[layer];
  return zeros;
}

Json training(Lab& lab, const std::string& unit) {
  if (unit == "relu" && lab.contrary()) lab.instead_of(unit);
  const LabModel model = lab.train(facts_recipe(lab), overrides_of(lab, unit), facts_corpus(lab));
  const std::vector<double> zeros = zeros_by_layer(open_session(model.folder), lab.pick<int64_t>(200, 100, 5));
  double mean = 0;
  for (const double share : zeros) mean += share / static_cast<double>(zeros.size());
  return {{"loss", model.loss}, {"zeros", zeros}, {"zeros_mean", mean}};
}

Json numbers(const Json& units) {
  const auto loss = [&](const char* unit) { return units.at(unit).at("loss").get<double>(); };
  const auto zeros = [&](const char* unit) { return units.at(unit).at("zeros_mean").get<double>(); };
  return {{"zeros_gap", zeros("relu") - zeros("gelu")},      {"relu_kept", units.at("curves").at("relu_kept")},
          {"gelu_kept", units.at("curves").at("gelu_kept")}, {"loss_gap", std::abs(loss("relu") - loss("gelu"))},
          {"swiglu", loss("swiglu") - loss("relu")},         {"loss", loss("relu")}};
}

std::vector<Figure> figures(const Json& result, Language language) {
  Chart curves{.title = Words{"What comes out for what goes in", "입력에 대한 출력"}.in(language),
               .x_name = Words{"input", "입력"}.in(language),
               .y_name = Words{"output", "출력"}.in(language)};
  const std::pair<const char*, const char*> kinds[] = {{"relu", "ReLU"}, {"gelu", "GELU"}, {"silu", "SiLU (SwiGLU)"}};
  for (const auto& [key, name] : kinds) {
    ChartSeries series{.name = name};
    const std::vector<double> y = curve_of(result, "curves", std::string("/") + key);
    for (size_t i = 0; i < y.size(); ++i)
      series.points.push_back(
          {kFrom + (kTo - kFrom) * static_cast<double>(i) / static_cast<double>(y.size() - 1), y[i]});
    curves.series.push_back(std::move(series));
  }
  return {{.chart = std::move(curves)}};
}

std::vector<Table> tables(const Json& result, Language language) {
  Table table{.caption = Words{"Trained models, mean over the seeds", "학습된 모델, 시드 평균"}.in(language),
              .columns = {"", Words{"loss, nats per token", "손실, 토큰당 nat"}.in(language),
                          Words{"exact zeros by layer, %", "층별 정확한 0의 비율, %"}.in(language)}};
  const std::pair<const char*, const char*> kinds[] = {{"relu", "ReLU"}, {"gelu", "GELU"}, {"swiglu", "SwiGLU"}};
  for (const auto& [unit, name] : kinds) {
    std::string zeros;
    for (const double share : curve_of(result, unit, "/zeros"))
      zeros += fmt::format("{}{:.1f}", zeros.empty() ? "" : ", ", 100 * share);
    table.rows.push_back({name, fmt::format("{:.3f}", mean_of(result, unit, "/loss")), zeros});
  }
  return {table};
}

}  // namespace

Experiment activations_experiment() {
  using Must = Measure::Must;
  return {
      .number = 7,
      .name = "activations",
      .title = {"ReLU drops the negative part, GELU keeps a little", "ReLU는 음수 부분을 버리고 GELU는 조금 남깁니다"},
      .claim = {"ReLU makes every negative value zero, so that many neurons are silent; GELU lets a little of it "
                "through. Both train, and gated networks as well.",
                "ReLU는 모든 음수를 0으로 만들어 많은 뉴런이 침묵하고, GELU는 그 일부를 통과시킵니다. 둘 다 학습되고, "
                "게이트가 있는 "
                "신경망도 그렇습니다."},
      .origin =
          {"Hands-on exercise on the feed-forward network; \"Gaussian Error Linear Units\" (Hendrycks and Gimpel 2016)",
           "순방향 신경망 실습; \"Gaussian Error Linear Units\" (Hendrycks와 Gimpel 2016)"},
      .method =
          {"The curves are computed by the kernels that models run on, from −4 to 4. Then three language models of "
           "the same facts are trained, with ReLU, GELU and SwiGLU, the last with two thirds of the features so "
           "that parameters are equal. While the trained models read facts, the share of activations that are "
           "exactly zero is counted layer by layer. The main number is the difference of that share between ReLU "
           "and GELU. The losses say whether all three train as well.",
           "곡선은 모델이 쓰는 커널로 −4에서 4까지 계산합니다. 그런 다음 같은 사실을 배우는 세 언어 모델을 ReLU, GELU, "
           "SwiGLU로 "
           "학습하며, SwiGLU는 매개변수 수가 같도록 특징 수를 3분의 2로 합니다. 학습된 모델이 사실을 읽는 동안 정확히 "
           "0인 "
           "활성값의 비율을 층마다 셉니다. 주된 수치는 ReLU와 GELU 사이 그 비율의 차이입니다. 손실은 셋이 똑같이 잘 "
           "학습되는지를 말해 줍니다."},
      .reported =
          {"Li et al. 2023 (\"The Lazy Neuron Phenomenon\") count a few percent of non-zero activations in large "
           "ReLU Transformers. Shazeer 2020 reports slightly lower loss for GELU and SwiGLU than for ReLU.",
           "Li 외 2023(\"The Lazy Neuron Phenomenon\")은 큰 ReLU 트랜스포머에서 0이 아닌 활성값이 몇 퍼센트라고 "
           "보고합니다. "
           "Shazeer 2020은 GELU와 SwiGLU의 손실이 ReLU보다 조금 낮다고 보고합니다."},
      .contrary = {"What is called ReLU is another model with GELU.",
                   "ReLU라고 부른 것이 GELU를 쓰는 다른 모델입니다."},
      .parts = {{.key = "zeros_gap",
                 .meaning = {"share of exact zeros with ReLU minus that with GELU",
                             "정확한 0의 비율: ReLU에서 GELU를 뺀 값"},
                 .threshold = 0.4,
                 .main = true},
                {.key = "relu_kept",
                 .meaning = {"mean size of what ReLU lets through of negative inputs",
                             "음수 입력에서 ReLU가 통과시키는 평균 크기"},
                 .must = Must::at_most,
                 .threshold = 0},
                {.key = "gelu_kept",
                 .meaning = {"mean size of what GELU lets through of negative inputs",
                             "음수 입력에서 GELU가 통과시키는 평균 크기"},
                 .threshold = 0.02},
                {.key = "loss_gap",
                 .meaning = {"difference of the losses of both, nats per token", "두 모델의 손실 차이, 토큰당 nat"},
                 .must = Must::at_most,
                 .threshold = 0.1},
                {.key = "swiglu",
                 .meaning = {"loss with SwiGLU minus loss with ReLU, nats per token",
                             "SwiGLU의 손실에서 ReLU의 손실을 뺀 값, 토큰당 nat"},
                 .must = Must::at_most,
                 .threshold = 0}},
      .baseline = Measure{.key = "loss",
                          .meaning = {"loss of the model with ReLU, nats per token", "ReLU 모델의 손실, 토큰당 nat"},
                          .must = Must::at_most,
                          .threshold = 2.5},
      .full_seconds = 31,
      .quick_seconds = 3,
      .revision = 2,
      .units =
          [](const Lab&) {
            return std::vector<std::string>{"curves", "relu", "gelu", "swiglu"};
          },
      .measure = [](Lab& lab, const std::string& unit) { return unit == "curves" ? curves(lab) : training(lab, unit); },
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
