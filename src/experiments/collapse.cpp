// 6. Without the non-linearity the two matrices of the feed-forward network collapse into one.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "experiments/lab.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/tasks.h"
#include "inspect/session.h"
#include "training/run_log.h"

namespace limpid {
namespace {

// Of the two models the one without an activation, in a contrary run another one with ReLU.
LabModel trained(Lab& lab, bool linear) {
  std::vector<std::string> keys;  // the recipe's own activation is ReLU
  if (linear && lab.contrary()) lab.instead_of("linear");
  if (linear && !lab.contrary()) keys.emplace_back("model.limpid.activation=\"none\"");
  return lab.train(facts_recipe(lab), keys, facts_corpus(lab));
}

// The weights of the first block's feed-forward network, as numbers of double precision: y = (x·up + b)·down + c.
struct FeedForwardWeights {
  std::vector<double> up, up_bias, down, down_bias;
  int64_t width = 0, features = 0;
};

FeedForwardWeights weights_of(const Model& model) {
  FeedForwardWeights all{.width = model.config().width, .features = model.config().stack().ffn};
  const auto put = [](const Weight& weight, std::vector<double>& into) {
    into.assign(weight.numbers(), weight.numbers() + weight.size());
  };
  model.each_parameter([&](const Weight& weight) {
    if (weight.name.find("h.0.mlp.") == std::string::npos) return;
    if (weight.name.ends_with("c_fc.weight")) put(weight, all.up);
    if (weight.name.ends_with("c_fc.bias")) put(weight, all.up_bias);
    if (weight.name.ends_with("c_proj.weight")) put(weight, all.down);
    if (weight.name.ends_with("c_proj.bias")) put(weight, all.down_bias);
  });
  check(!all.up.empty() && !all.down.empty() && model.config().layout == WeightLayout::in_out,
        "[experiment] the model has no feed-forward network of GPT-2's layout");
  return all;
}

// One matrix and one vector that stand for both.
struct Collapsed {
  std::vector<double> matrix, bias;
};

Collapsed collapse(const FeedForwardWeights& ffn) {
  Collapsed one{std::vector<double>(ffn.width * ffn.width), ffn.down_bias};
  for (int64_t i = 0; i < ffn.width; ++i)
    for (int64_t f = 0; f < ffn.features; ++f)
      for (int64_t j = 0; j < ffn.width; ++j)
        one.matrix[i * ffn.width + j] += ffn.up[i * ffn.features + f] * ffn.down[f * ffn.width + j];
  for (int64_t f = 0; f < ffn.features; ++f)
    for (int64_t j = 0; j < ffn.width; ++j) one.bias[j] += ffn.up_bias[f] * ffn.down[f * ffn.width + j];
  return one;
}

// What the network writes while the trained model reads, beside what the one matrix gives.
Json product(Lab& lab) {
  const Session session = open_session(trained(lab, true).folder);
  const FeedForwardWeights ffn = weights_of(session.model());
  const Collapsed one = collapse(ffn);
  std::vector<double> read;
  double error = 0, largest = 0;
  FunctionProbe probe;
  probe.on("blocks.0.norm2", [&](const Tap& tap) {
    const ConstMatrix x = tap.value.values();
    read.clear();
    for (int64_t i = 0; i < x.rows; ++i) read.insert(read.end(), x.row(i), x.row(i) + x.cols);
  });
  probe.on("blocks.0.ffn_out", [&](const Tap& tap) {
    const ConstMatrix y = tap.value.values();
    for (int64_t row = 0; row < y.rows; ++row)
      for (int64_t j = 0; j < y.cols; ++j) {
        double expected = one.bias[j];
        for (int64_t i = 0; i < ffn.width; ++i) expected += read[row * ffn.width + i] * one.matrix[i * ffn.width + j];
        error = std::max(error, std::abs(expected - static_cast<double>(y.row(row)[j])));
        largest = std::max(largest, std::abs(expected));
      }
  });
  for (const char* text : {"Michael Jordan plays the sport of", "Michael Jordan lives in the city of"})
    forward_logits(session.model(), session.example({.text = text, .target = {}}), &probe);
  return {{"difference", error / largest}, {"features", ffn.features}, {"width", ffn.width}};
}

Json training(Lab& lab, bool linear) {
  const LabModel model = trained(lab, linear);
  const RunLog log = read_run_log(model.folder);
  const auto found = log.curves.find("loss");  // none where a run was too short to say
  const RunCurve curve = found == log.curves.end() ? RunCurve{} : smoothed(found->second, 40);
  return {{"loss", model.loss}, {"steps", curve.steps}, {"curve", curve.values}};
}

Json numbers(const Json& units) {
  const double linear = units.at("linear").at("loss"), relu = units.at("relu").at("loss");
  return {{"difference", units.at("product").at("difference")}, {"loss", relu}, {"loss_gap", linear - relu}};
}

std::vector<Figure> figures(const Json& result, Language language) {
  Chart chart{.title = Words{"Training loss at equal parameters, nats per token",
                             "매개변수 수가 같을 때의 학습 손실, 토큰당 nat"}
                           .in(language),
              .x_name = Words{"step", "스텝"}.in(language),
              .y_name = Words{"loss", "손실"}.in(language)};
  const std::pair<const char*, Words> kinds[] = {{"linear", {"no activation", "활성화 없음"}},
                                                 {"relu", {"ReLU", "ReLU"}}};
  for (const auto& [unit, name] : kinds) {
    ChartSeries series{.name = name.in(language)};
    const std::vector<double> x = curve_of(result, unit, "/steps"), y = curve_of(result, unit, "/curve");
    for (size_t i = 0; i < x.size(); ++i) series.points.push_back({x[i], y[i]});
    chart.series.push_back(std::move(series));
  }
  return {{.chart = std::move(chart)}};
}

std::vector<Table> tables(const Json& result, Language language) {
  Table table{.caption = Words{"After training, mean over the seeds", "학습 후, 시드 평균"}.in(language),
              .columns = {"", Words{"loss, nats per token", "손실, 토큰당 nat"}.in(language)}};
  table.rows.push_back(
      {Words{"no activation", "활성화 없음"}.in(language), fmt::format("{:.3f}", mean_of(result, "linear", "/loss"))});
  table.rows.push_back({"ReLU", fmt::format("{:.3f}", mean_of(result, "relu", "/loss"))});
  return {table};
}

}  // namespace

Experiment collapse_experiment() {
  using Must = Measure::Must;
  return {
      .number = 6,
      .name = "collapse",
      .title = {"Without the non-linearity the feed-forward network collapses",
                "비선형성이 없으면 순방향 신경망은 하나로 무너집니다"},
      .claim =
          {"Two linear maps in a row are one linear map: without an activation between them, the wide layer adds "
           "nothing that one small matrix could not do.",
           "잇따른 두 선형 변환은 하나의 선형 변환입니다. 사이에 활성화 함수가 없으면 넓은 층은 작은 행렬 하나가 못 "
           "할 일을 "
           "아무것도 더하지 못합니다."},
      .origin = {"Hands-on exercise on the feed-forward network", "순방향 신경망 실습"},
      .method =
          {"Two language models of the same facts are trained; they have the same parameters and differ in the "
           "activation, ReLU or none. Of the one without, both matrices of the first block's network are "
           "multiplied into one of width × width, the biases folded in. While the model reads, what its network "
           "writes is held against what the one matrix gives. The difference is that of rounding, or the claim is "
           "wrong. Then the losses of the two models are compared.",
           "같은 사실을 배우는, 매개변수는 같고 활성화 함수만 ReLU와 없음으로 다른 두 언어 모델을 학습합니다. "
           "활성화가 "
           "없는 "
           "모델에서 첫 블록의 두 행렬을 곱해 폭 × 폭 행렬 하나로 만들고 편향도 합칩니다. 모델이 글을 읽는 동안 그 "
           "신경망이 쓰는 "
           "값을 이 행렬 하나가 주는 값과 비교합니다. 차이가 반올림 수준이 아니면 주장은 틀린 것입니다. 그런 다음 두 "
           "모델의 손실을 비교합니다."},
      .reported =
          {"That the product is one matrix is algebra. Facts need the non-linearity: the questions that neurons "
           "ask are answered by it.",
           "곱이 행렬 하나라는 것은 대수입니다. 사실을 기억하는 데에는 비선형성이 필요합니다. 뉴런이 던지는 물음에 "
           "답하는 "
           "것이 그것입니다."},
      .contrary = {"The model whose matrices are multiplied keeps its ReLU; both models have one and differ in their "
                   "first weights alone.",
                   "행렬을 곱하는 모델이 ReLU를 그대로 가지며, 두 모델 모두 ReLU를 쓰고 처음 가중치만 다릅니다."},
      .parts = {{.key = "difference",
                 .meaning = {"largest difference between the network and the one matrix, in parts of the largest value",
                             "신경망과 행렬 하나의 최대 차이 (최댓값에 대한 비)"},
                 .must = Must::at_most,
                 .threshold = 1e-4,
                 .main = true},
                {.key = "loss_gap",
                 .meaning = {"loss without activation minus loss with ReLU, nats per token",
                             "활성화 없는 모델의 손실에서 ReLU 모델의 손실을 뺀 값, 토큰당 nat"},
                 .threshold = 0.02}},
      .baseline = Measure{.key = "loss",
                          .meaning = {"loss of the model with ReLU, nats per token", "ReLU 모델의 손실, 토큰당 nat"},
                          .must = Must::at_most,
                          .threshold = 2.5},
      .full_seconds = 28,
      .quick_seconds = 3,
      .revision = 2,
      .units =
          [](const Lab&) {
            return std::vector<std::string>{"linear", "relu", "product"};
          },
      .measure =
          [](Lab& lab, const std::string& unit) {
            return unit == "product" ? product(lab) : training(lab, unit == "linear");
          },
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
