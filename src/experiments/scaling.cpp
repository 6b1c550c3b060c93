// 3. Scores are divided by √d_k: without, their variance grows with d_k, the softmax sharpens and gradients vanish.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "experiments/lab.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/tasks.h"
#include "kernels/attention.h"

namespace limpid {
namespace {

constexpr int64_t kKeys = 64;  // a query looks at so many

std::vector<double> sizes(const Lab& lab) {
  std::vector<double> all;
  for (int64_t d = 4; d <= lab.pick<int64_t>(1024, 1024, 256); d *= 2) all.push_back(static_cast<double>(d));
  return all;
}

struct Softened {
  double variance = 0, entropy = 0, gradient = 0;  // of scores; of patterns, in nats; median norm behind the softmax
};

// Queries and keys with entries of variance `entry`, through the attention that models run on.
Softened softened(int64_t d, double scale, double entry, uint64_t seed, int64_t repeats) {
  Random random(random_key(seed, static_cast<uint64_t>(d), 3));
  const AttentionShape shape{.heads = 1, .kv_heads = 1, .head_size = d, .scale = static_cast<real>(scale)};
  std::vector<real> q(kKeys * d), k(kKeys * d), scores(kKeys * kKeys), pattern(scores), back(scores), dscores(scores);
  Softened sum;
  std::vector<double> norms;
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    for (auto* values : {&q, &k})
      for (real& value : *values) value = static_cast<real>(std::sqrt(entry) * random.normal());
    const std::vector<kernels::AttentionJob> jobs = {
        {.q = {q.data(), kKeys, d}, .k = {k.data(), kKeys, d}, .v = {k.data(), kKeys, d}, .z = {}}};
    kernels::attention_scores_forward(shape, jobs, scores.data());
    kernels::attention_softmax_forward(shape, jobs, scores.data(), pattern.data());
    for (real& value : back) value = static_cast<real>(random.normal());
    std::fill(dscores.begin(), dscores.end(), real{0});
    kernels::attention_softmax_backward(shape, jobs, pattern.data(), back.data(), dscores.data());
    for (int64_t row = 0; row < kKeys; ++row) {
      double norm = 0;
      for (int64_t i = row * kKeys; i < (row + 1) * kKeys; ++i) {
        const auto score = static_cast<double>(scores[i]), p = static_cast<double>(pattern[i]);
        sum.variance += score * score;
        sum.entropy -= p > 0 ? p * std::log(p) : 0;
        norm += static_cast<double>(dscores[i]) * static_cast<double>(dscores[i]);
      }
      norms.push_back(std::sqrt(norm));
    }
  }
  const auto rows = static_cast<double>(norms.size());
  std::nth_element(norms.begin(), norms.begin() + static_cast<int64_t>(norms.size() / 2), norms.end());
  return {sum.variance / (rows * kKeys), sum.entropy / rows, norms[norms.size() / 2]};
}

// The slope of log y over log x, by least squares.
double log_slope(const std::vector<double>& x, const std::vector<double>& y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double a = std::log(x[i]), b = std::log(y[i]);
    sx += a, sy += b, sxx += a * a, sxy += a * b;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

Json products(Lab& lab) {
  Json json = {{"d_k", sizes(lab)}};
  for (const bool scaled : {false, true}) {
    std::vector<double> variance, entropy, gradient;
    for (const double d : sizes(lab)) {
      const double entry = lab.contrary() ? 1 / std::sqrt(d) : 1;
      const Softened at =
          softened(static_cast<int64_t>(d), scaled ? 1 / std::sqrt(d) : 1, entry, lab.seed(), lab.pick(32, 16, 8));
      variance.push_back(at.variance), entropy.push_back(at.entropy / std::log(kKeys)), gradient.push_back(at.gradient);
    }
    json[scaled ? "scaled" : "plain"] = {{"variance", variance},
                                         {"slope", log_slope(sizes(lab), variance)},
                                         {"entropy", entropy},
                                         {"gradient", gradient}};
  }
  return json;
}

Json training(Lab& lab, bool scaled) {
  std::vector<std::string> keys = {"model.n_head=1"};
  if (!scaled && lab.contrary()) lab.instead_of("plain");
  if (!scaled && !lab.contrary()) keys.emplace_back("model.limpid.scale_scores=false");
  const LabModel model = lab.train(facts_recipe(lab), keys, facts_corpus(lab));
  return {{"loss", model.loss}, {"steps", model.steps}};
}

Json numbers(const Json& units) {
  const Json& plain = units.at("products").at("plain");
  const Json& scaled = units.at("products").at("scaled");
  const auto last = [](const Json& list) { return list.back().get<double>(); };
  Json json = {{"slope_error", std::abs(plain.at("slope").get<double>() - 1)},
               {"scaled_slope", std::abs(scaled.at("slope").get<double>())},
               {"entropy", last(plain.at("entropy"))},
               {"scaled_entropy", last(scaled.at("entropy"))},
               {"gradient_ratio", last(plain.at("gradient")) / last(scaled.at("gradient"))}};
  json["loss"] = units.at("scaled").at("loss");
  json["loss_gap"] = units.at("plain").at("loss").get<double>() - units.at("scaled").at("loss").get<double>();
  return json;
}

std::vector<Figure> figures(const Json& result, Language language) {
  std::vector<Figure> all;
  const struct {
    const char* key;
    Words title, y;
  } kinds[] = {{"variance",
                {"Variance of q·k, logarithm to base 2", "q·k의 분산 (밑이 2인 로그)"},
                {"log₂ variance", "log₂ 분산"}},
               {"entropy",
                {"Entropy of the softmax over 64 keys, share of the most there can be",
                 "키 64개에 대한 소프트맥스의 엔트로피, 최댓값에 대한 비율"},
                {"entropy", "엔트로피"}},
               {"gradient",
                {"Gradient that passes the softmax, median norm", "소프트맥스를 통과한 그래디언트, 노름의 중앙값"},
                {"norm", "노름"}}};
  const std::vector<double> d_k = curve_of(result, "products", "/d_k");
  for (const auto& kind : kinds) {
    Chart chart{.title = kind.title.in(language), .x_name = "d_k", .y_name = kind.y.in(language), .log_x = true};
    for (const char* variant : {"plain", "scaled"}) {
      const bool plain = std::string(variant) == "plain";
      ChartSeries series{.name = plain ? "q·k" : "q·k / √d_k"};
      const std::vector<double> y = curve_of(result, "products", std::string("/") + variant + "/" + kind.key);
      for (size_t i = 0; i < y.size(); ++i)
        series.points.push_back({d_k[i], std::string(kind.key) == "variance" ? std::log2(y[i]) : y[i]});
      chart.series.push_back(std::move(series));
    }
    all.push_back({.chart = std::move(chart)});
  }
  return all;
}

std::vector<Table> tables(const Json& result, Language language) {
  const auto say = [&](const char* english, const char* korean) {
    return std::string(language == Language::korean ? korean : english);
  };
  Table table{.caption = say("Measured, mean over the seeds", "측정값, 시드 평균"),
              .columns = {"", "q·k", "q·k / √d_k"}};
  const auto row = [&](const std::string& name, double plain, double scaled) {
    table.rows.push_back({name, fmt::format("{:.3f}", plain), fmt::format("{:.3f}", scaled)});
  };
  row(say("slope of log variance over log d_k", "log d_k에 대한 log 분산의 기울기"),
      mean_of(result, "products", "/plain/slope"), mean_of(result, "products", "/scaled/slope"));
  row(say("theory", "이론값"), 1, 0);
  row(say("loss after training, nats per token", "학습 후 손실, 토큰당 nat"), mean_of(result, "plain", "/loss"),
      mean_of(result, "scaled", "/loss"));
  return {table};
}

}  // namespace

Experiment scaling_experiment() {
  using Must = Measure::Must;
  return {
      .number = 3,
      .name = "scaling",
      .title = {"Why scores are divided by √d_k", "왜 점수를 √d_k로 나누는가"},
      .claim = {"Dot products of queries and keys grow with the size of a head. Without a division by √d_k the softmax "
                "becomes so sharp that hardly any gradient passes it.",
                "쿼리와 키의 내적은 헤드의 크기와 함께 커집니다. √d_k로 나누지 않으면 소프트맥스가 지나치게 뾰족해져 "
                "그래디언트가 거의 지나가지 못합니다."},
      .origin = {"\"Attention Is All You Need\" (Vaswani et al. 2017), section 3.2.1 and its footnote",
                 "\"Attention Is All You Need\" (Vaswani 외 2017), 3.2.1절과 그 각주"},
      .method =
          {"Queries and keys are drawn with entries of mean 0 and variance 1, for heads of size 4 to 1,024. They "
           "pass through the attention that models run on, with and without the division. Measured are the "
           "variance of the scores, the entropy of the patterns over 64 keys, and the norm of a random gradient "
           "behind the softmax. Theory says that the variance without division is d_k: a slope of one on "
           "logarithmic axes. Then two language models with one head of size 64, which differ in the division "
           "alone, learn the same facts.",
           "크기가 4에서 1,024인 헤드에 대해 평균 0, 분산 1인 성분으로 쿼리와 키를 뽑습니다. 나눗셈이 있을 때와 없을 "
           "때 "
           "각각 모델이 실제로 쓰는 어텐션을 통과시킵니다. 점수의 분산, 키 64개에 대한 패턴의 엔트로피, 소프트맥스를 "
           "거슬러 간 "
           "무작위 그래디언트의 노름을 잽니다. 이론에 따르면 나누지 않은 분산은 d_k이며, 로그 축에서 기울기가 1입니다. "
           "그런 다음 나눗셈만 다른, 크기 64의 헤드 하나를 가진 두 언어 모델이 같은 사실들을 배웁니다."},
      .reported =
          {"The paper derives the variance d_k and suspects that the gradients become extremely small; it gives "
           "no measurement.",
           "논문은 분산이 d_k임을 유도하고 그래디언트가 극히 작아질 것이라 추측하지만 측정값은 싣지 않았습니다."},
      .contrary =
          {"Entries are drawn with variance 1/√d_k, so that products cannot grow; both models divide and differ in "
           "their first weights alone.",
           "성분의 분산을 1/√d_k로 하여 내적이 커질 수 없게 하고, 두 모델 모두 나눗셈을 하며 처음 가중치만 다릅니다."},
      .parts = {{.key = "slope_error",
                 .meaning = {"distance of the measured slope from 1", "측정한 기울기와 1의 차이"},
                 .must = Must::at_most,
                 .threshold = 0.05,
                 .main = true},
                {.key = "scaled_slope",
                 .meaning = {"slope with the division", "나누었을 때의 기울기"},
                 .must = Must::at_most,
                 .threshold = 0.05},
                {.key = "entropy",
                 .meaning = {"entropy at the largest d_k without the division, share of the most there can be",
                             "나누지 않았을 때 가장 큰 d_k에서의 엔트로피 비율"},
                 .must = Must::at_most,
                 .threshold = 0.25},
                {.key = "scaled_entropy",
                 .meaning = {"entropy at the largest d_k with the division",
                             "나누었을 때 가장 큰 d_k에서의 엔트로피 비율"},
                 .threshold = 0.75},
                {.key = "gradient_ratio",
                 .meaning = {"gradient at the largest d_k without the division, in parts of that with it",
                             "가장 큰 d_k에서 나누지 않은 그래디언트를 나눈 것으로 나눈 비"},
                 .must = Must::at_most,
                 .threshold = 0.1},
                {.key = "loss_gap",
                 .meaning = {"loss without the division minus loss with it, nats per token",
                             "나누지 않은 모델의 손실에서 나눈 모델의 손실을 뺀 값, 토큰당 nat"},
                 .threshold = 0.02}},
      .baseline =
          Measure{.key = "loss",
                  .meaning = {"loss of the model that divides, nats per token", "나누는 모델의 손실, 토큰당 nat"},
                  .must = Must::at_most,
                  .threshold = 2.5},
      .full_seconds = 30,
      .quick_seconds = 3,
      .revision = 3,
      .units =
          [](const Lab&) {
            return std::vector<std::string>{"products", "plain", "scaled"};
          },
      .measure =
          [](Lab& lab, const std::string& unit) {
            return unit == "products" ? products(lab) : training(lab, unit == "scaled");
          },
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
