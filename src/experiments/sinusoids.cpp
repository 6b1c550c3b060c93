// 5. Relative position can be read off sinusoids.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/random.h"
#include "corpora/tasks.h"
#include "experiments/lab.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/tasks.h"
#include "inspect/session.h"
#include "layers/positions.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kWidth = 64, kPictured = 48;  // positions that are shown

// Vectors of positions: pairs of sin and cos side by side. Contrary: numbers without a rule.
std::vector<double> encoding(const Lab& lab, int64_t positions) {
  if (!lab.contrary()) {
    const std::vector<real> table = sinusoids(positions, kWidth, SinusoidLayout::interleaved);
    return {table.begin(), table.end()};
  }
  std::vector<double> table(positions * kWidth);
  Random random(random_key(lab.seed(), 5, 5));
  for (double& value : table) value = random.normal() / std::sqrt(2.0);
  return table;
}

// The best linear map of each pair from position p to p + k, by least squares over the first half of the positions:
// [a b; c d] for (sin, cos). Its error is taken over all positions, so that it must hold beyond what it was made from.
struct ShiftMap {
  double from_prediction = 0;  // largest distance of an entry from the rotation that theory predicts
  double error = 0;            // largest error of the predicted rotation anywhere
  double fit_error = 0;        // of the fitted map
};

ShiftMap shift_map(const std::vector<double>& table, int64_t positions, int64_t k) {
  ShiftMap result;
  for (int64_t i = 0; i < kWidth; i += 2) {
    const auto at = [&](int64_t p, int64_t part) { return table[p * kWidth + i + part]; };
    double ss = 0, sc = 0, cc = 0, rhs[2][2] = {};
    for (int64_t p = 0; p < positions / 2; ++p) {
      ss += at(p, 0) * at(p, 0), sc += at(p, 0) * at(p, 1), cc += at(p, 1) * at(p, 1);
      for (int64_t part = 0; part < 2; ++part)
        for (int64_t of = 0; of < 2; ++of) rhs[part][of] += at(p + k, part) * at(p, of);
    }
    const double determinant = ss * cc - sc * sc;
    double fitted[2][2];
    for (int64_t part = 0; part < 2; ++part) {
      fitted[part][0] = (rhs[part][0] * cc - rhs[part][1] * sc) / determinant;
      fitted[part][1] = (rhs[part][1] * ss - rhs[part][0] * sc) / determinant;
    }
    // sin((p+k)w) = cos(kw)·sin(pw) + sin(kw)·cos(pw), and likewise for cos
    const double angle =
        static_cast<double>(k) * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(kWidth));
    const double predicted[2][2] = {{std::cos(angle), std::sin(angle)}, {-std::sin(angle), std::cos(angle)}};
    for (int64_t part = 0; part < 2; ++part) {
      for (int64_t of = 0; of < 2; ++of)
        result.from_prediction = std::max(result.from_prediction, std::abs(fitted[part][of] - predicted[part][of]));
      for (int64_t p = 0; p + k < positions; ++p) {
        const auto map = [&](const double(&m)[2][2]) { return m[part][0] * at(p, 0) + m[part][1] * at(p, 1); };
        result.error = std::max(result.error, std::abs(map(predicted) - at(p + k, part)));
        result.fit_error = std::max(result.fit_error, std::abs(map(fitted) - at(p + k, part)));
      }
    }
  }
  return result;
}

Json encodings(const Lab& lab) {
  const auto positions = lab.pick<int64_t>(1024, 512, 256);
  const std::vector<double> table = encoding(lab, positions);
  const auto dot = [&](int64_t p, int64_t q) {
    double sum = 0;
    for (int64_t i = 0; i < kWidth; ++i) sum += table[p * kWidth + i] * table[q * kWidth + i];
    return 2 * sum / kWidth;
  };
  std::vector<double> distances, mean, shifts, errors;
  double spread = 0, farthest = -1;
  for (int64_t k = 0; k < positions / 4; ++k) {
    double sum = 0, low = 1e9, high = -1e9;
    for (int64_t p = 0; p + k < positions; ++p) {
      const double value = dot(p, p + k);
      sum += value, low = std::min(low, value), high = std::max(high, value);
    }
    distances.push_back(static_cast<double>(k));
    mean.push_back(sum / static_cast<double>(positions - k));
    spread = std::max(spread, high - low);
    if (k > 0) farthest = std::max(farthest, high);
  }
  ShiftMap worst;
  for (int64_t k = 1; k <= 64; k *= 2) {
    const ShiftMap map = shift_map(table, positions, k);
    shifts.push_back(static_cast<double>(k)), errors.push_back(map.error);
    worst.from_prediction = std::max(worst.from_prediction, map.from_prediction);
    worst.error = std::max(worst.error, map.error);
    worst.fit_error = std::max(worst.fit_error, map.fit_error);
  }
  return {{"distances", distances},
          {"dot", mean},
          {"spread", spread},
          {"nearest", mean[0] - farthest},
          {"shifts", shifts},
          {"shift_errors", errors},
          {"first_positions", std::vector<double>(table.begin(), table.begin() + kPictured * kWidth)},
          {"rotation_error", worst.error},
          {"fit_error", worst.fit_error},
          {"from_prediction", worst.from_prediction}};
}

// ---- Beyond the trained length: a random sequence repeated; who knows what followed the first time predicts the
// second copy.

constexpr int kShortest = 4, kTrained = 12, kLongest = 24;

TaskPair letters(const TaskOptions& options, int64_t index, Split split) {
  return task_pair(SyntheticTask::repeat, options, static_cast<uint64_t>(index), split);
}

LabCorpus repeats(const Lab& lab) {
  const auto lines = lab.pick<int64_t>(20000, 10000, 500);
  return {.key = fmt::format("repeat {}", lines), .write = [lines](const fs::path& folder) {
            const TaskOptions options{.shortest = kShortest, .longest = kTrained};
            for (const bool train : {true, false}) {
              std::string text;
              for (int64_t i = 0; i < (train ? lines : 300); ++i) {
                const TaskPair pair = letters(options, i, train ? Split::train : Split::valid);
                text += pair.source + " = " + pair.target + "\n";
              }
              write_text(folder / (train ? "train.txt" : "valid.txt"), text);
            }
          }};
}

std::string recipe(const Lab& lab) {
  return R"(
[data]
train = ["train.txt"]
valid = ["valid.txt"]
[tokenizer]
kind = "words"
[model]
model_type = "gpt2"
n_embd = 64
n_layer = 2
n_head = 4
n_inner = 128
n_positions = 128
embd_pdrop = 0.0
attn_pdrop = 0.0
resid_pdrop = 0.0
initializer_range = 0.125
)" + to_toml({.steps = lab.pick(3000, 2000, 6), .learning_rate = 0.003, .warmup = 50});
}

// Of the letters of the second copy, how many are predicted, for sequences of so many letters.
double accuracy(const Session& session, int length, int64_t texts) {
  const TaskOptions options{.seed = 7, .shortest = length, .longest = length};
  int64_t right = 0, all = 0;
  for (int64_t i = 0; i < texts; ++i) {
    const TaskPair pair = letters(options, i, Split::test);
    const Example example = session.example({.text = pair.source + " = " + pair.target, .target = {}});
    const Tensor logits = forward_logits(session.model(), example, nullptr);
    const int64_t middle = std::find(example.input.begin(), example.input.end(), "=") - example.input.begin();
    for (int64_t letter = 0; letter < length; ++letter) {
      const real* scores = logits.values().row(middle + letter);
      const auto said = static_cast<int32_t>(std::max_element(scores, scores + logits.cols()) - scores);
      right += session.piece(said) == pair.source.substr(static_cast<size_t>(2 * letter), 1) ? 1 : 0;
      ++all;
    }
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(all);
}

Json extrapolation(Lab& lab, const std::string& kind) {
  const LabModel model = lab.train(
      recipe(lab), {"batch.tokens=512", fmt::format("model.limpid={{positions=\"{}\", scale_embedding=true}}", kind)},
      repeats(lab));
  const Session session = open_session(model.folder);
  std::vector<double> lengths, right;
  double within = 0, beyond = 0, count_within = 0, count_beyond = 0;
  for (int length = kShortest; length <= kLongest; length += 2) {
    lengths.push_back(length);
    right.push_back(accuracy(session, length, lab.pick<int64_t>(60, 20, 2)));
    (length <= kTrained ? within : beyond) += right.back();
    (length <= kTrained ? count_within : count_beyond) += 1;
  }
  return {{"lengths", lengths},
          {"accuracy", right},
          {"within", within / count_within},
          {"beyond", beyond / count_beyond},
          {"loss", model.loss}};
}

Json numbers(const Json& units) {
  const Json& encoding = units.at("encoding");
  return {{"rotation_error", encoding.at("rotation_error")},
          {"from_prediction", encoding.at("from_prediction")},
          {"spread", encoding.at("spread")},
          {"nearest", encoding.at("nearest")},
          {"within", units.at("sinusoidal").at("within")},
          {"beyond", units.at("sinusoidal").at("beyond")},
          {"beyond_none", units.at("none").at("beyond")},
          {"beyond_learned", units.at("learned").at("beyond")},
          {"beyond_rotary", units.at("rotary").at("beyond")}};
}

// The encoding itself: a row for each of the first positions.
Figure picture(const Json& result, Language language) {
  const Json& values = result.at("seeds").at(0).at("units").at("encoding").at("first_positions");
  Heatmap map{.title = Words{"Vectors of the first positions", "처음 위치들의 벡터"}.in(language),
              .row_name = Words{"position", "위치"}.in(language),
              .column_name = Words{"entry", "성분"}.in(language),
              .row_count = std::ssize(values) / kWidth,
              .column_count = kWidth,
              .values = values.get<std::vector<float>>()};
  return {.svg = to_svg(Picture{.maps = {std::move(map)}, .per_row = 1}),
          .caption = Words{"The encoding: pairs of sine and cosine, from quick (left) to slow.",
                           "인코딩: 빠른 것(왼쪽)에서 느린 것까지 사인과 코사인의 쌍."}
                         .in(language)};
}

std::vector<Figure> figures(const Json& result, Language language) {
  Chart dots{.title = Words{"Dot product of two positions by their distance, 1 = itself",
                            "거리에 따른 두 위치의 내적, 1 = 자기 자신"}
                          .in(language),
             .x_name = Words{"distance", "거리"}.in(language),
             .y_name = Words{"dot product", "내적"}.in(language)};
  ChartSeries series{.name = Words{"sinusoids", "사인파"}.in(language)};
  const std::vector<double> x = curve_of(result, "encoding", "/distances"), y = curve_of(result, "encoding", "/dot");
  for (size_t i = 0; i < x.size(); ++i) series.points.push_back({x[i], y[i]});
  dots.series.push_back(std::move(series));

  Chart beyond{.title = fmt::format(fmt::runtime(Words{"Letters predicted by length, % (trained on {} to {})",
                                                       "길이별로 맞힌 글자, % ({}~{}글자로 학습)"}
                                                     .in(language)),
                                    kShortest, kTrained),
               .x_name = Words{"letters of the repeated sequence", "반복되는 글자 수"}.in(language),
               .y_name = "%",
               .low = 0,
               .high = 100};
  for (const char* kind : {"none", "sinusoidal", "learned", "rotary"}) {
    ChartSeries curve{.name = kind};
    const std::vector<double> at = curve_of(result, kind, "/lengths"), right = curve_of(result, kind, "/accuracy");
    for (size_t i = 0; i < at.size(); ++i) curve.points.push_back({at[i], right[i]});
    beyond.series.push_back(std::move(curve));
  }
  Chart shift{
      .title = Words{"Largest error of the predicted rotation, log₁₀", "예측한 회전의 최대 오차, log₁₀"}.in(language),
      .x_name = Words{"shift", "이동"}.in(language),
      .y_name = "log₁₀",
      .log_x = true};
  ChartSeries errors{.name = Words{"all positions", "모든 위치"}.in(language)};
  const std::vector<double> shifts = curve_of(result, "encoding", "/shifts"),
                            error = curve_of(result, "encoding", "/shift_errors");
  for (size_t i = 0; i < shifts.size(); ++i)
    errors.points.push_back({shifts[i], std::log10(std::max(error[i], 1e-30))});
  shift.series.push_back(std::move(errors));
  return {
      picture(result, language), {.chart = std::move(dots)}, {.chart = std::move(shift)}, {.chart = std::move(beyond)}};
}

std::vector<Table> tables(const Json& result, Language language) {
  Table table{.caption = Words{"Letters predicted, %, mean over the seeds", "맞힌 글자, %, 시드 평균"}.in(language),
              .columns = {Words{"positions", "위치"}.in(language), Words{"trained lengths", "학습한 길이"}.in(language),
                          Words{"longer", "더 긴 길이"}.in(language)}};
  for (const char* kind : {"none", "sinusoidal", "learned", "rotary"})
    table.rows.push_back({kind, fmt::format("{:.1f}", mean_of(result, kind, "/within")),
                          fmt::format("{:.1f}", mean_of(result, kind, "/beyond"))});
  return {table};
}

}  // namespace

Experiment sinusoids_experiment() {
  using Must = Measure::Must;
  return {
      .number = 5,
      .name = "sinusoids",
      .title = {"Relative position can be read off sinusoids", "사인파에서 상대 위치를 읽어 낼 수 있습니다"},
      .claim =
          {"The vector of position p + k is a linear function of the vector of p, the same for every p; so a model "
           "can attend by relative position, and perhaps beyond the length it was trained on.",
           "위치 p + k의 벡터는 p의 벡터의 선형 함수이며 모든 p에서 같습니다. 그래서 모델은 상대 위치로 주의를 기울일 "
           "수 "
           "있고, "
           "어쩌면 학습한 길이를 넘어서도 그렇습니다."},
      .origin = {"\"Attention Is All You Need\" (Vaswani et al. 2017), section 3.5",
                 "\"Attention Is All You Need\" (Vaswani 외 2017), 3.5절"},
      .method =
          {"Of the encoding that models add, dot products of all pairs of positions are taken: they must depend on "
           "the distance alone and be largest at distance 0. For shifts of 1 to 64, theory predicts a rotation of "
           "each pair of sine and cosine; its error over all positions is taken. The best linear map is also "
           "fitted to half of the positions and held against the rotation. Then language models with no, "
           "sinusoidal, learned and rotary positions learn to repeat 4 to 12 letters. They are asked for up to 24.",
           "모델이 더하는 인코딩에서 모든 위치 쌍의 내적을 구합니다. 내적은 거리에만 의존하고 거리 0에서 가장 커야 "
           "합니다. "
           "1에서 64까지의 "
           "이동에 대해 이론은 사인과 코사인 쌍마다 회전을 예측하며, 모든 위치에서의 오차를 구합니다. 가장 좋은 선형 "
           "변환도 절반의 "
           "위치에서 맞추어 그 회전과 비교합니다. 그런 다음 위치 없음, 사인파, 학습, 회전 위치를 쓰는 언어 모델이 "
           "4~12글자를 되풀이하는 "
           "법을 배우고, 24글자까지 시험합니다."},
      .reported =
          {"The paper names the linear map and hopes for longer sequences. Press et al. 2022 (\"Train Short, Test "
           "Long\") measured that sinusoidal positions hardly extrapolate.",
           "논문은 선형 변환을 언급하고 더 긴 문장을 기대합니다. Press 외 2022(\"Train Short, Test Long\")는 사인파 "
           "위치가 거의 "
           "외삽하지 못함을 측정했습니다."},
      .contrary = {"The encoding is a table of random numbers.", "인코딩이 무작위 수의 표입니다."},
      .parts =
          {{.key = "rotation_error",
            .meaning = {"largest error of the predicted rotation over all positions and shifts",
                        "모든 위치와 이동에서 예측한 회전의 최대 오차"},
            .must = Must::at_most,
            .threshold = 1e-4,
            .main = true},
           {.key = "from_prediction",
            .meaning = {"largest distance of the fitted map from the rotation", "맞춘 변환과 회전의 최대 차이"},
            .must = Must::at_most,
            .threshold = 1e-3},
           {.key = "spread",
            .meaning = {"largest difference of dot products at one distance", "같은 거리에서 내적의 최대 차이"},
            .must = Must::at_most,
            .threshold = 1e-4},
           {.key = "nearest",
            .meaning = {"dot product at distance 0 above the largest at any other",
                        "거리 0의 내적이 다른 거리의 최댓값보다 큰 정도"},
            .threshold = 0.001},
           {.key = "beyond",
            .meaning = {"sinusoidal positions, letters predicted beyond the trained length, %",
                        "사인파 위치가 학습한 길이 너머에서 맞힌 글자, %"},
            .threshold = 90},
           {.key = "beyond_none",
            .meaning = {"the same with no positions but a causal mask", "위치 없이 인과 마스크만 있을 때 같은 비율"},
            .threshold = 90},
           {.key = "beyond_rotary", .meaning = {"the same with rotary positions", "회전 위치일 때"}, .threshold = 90},
           {.key = "beyond_learned",
            .meaning = {"the same with learned positions, which were never trained there",
                        "그곳에서 학습된 적 없는 학습된 위치일 때"},
            .must = Must::at_most,
            .threshold = 50}},
      .baseline = Measure{.key = "within",
                          .meaning = {"sinusoidal positions, letters predicted within the trained length, %",
                                      "사인파 위치가 학습한 길이 안에서 맞힌 글자, %"},
                          .threshold = 90},
      .full_seconds = 55,
      .quick_seconds = 12,
      .revision = 4,
      .units =
          [](const Lab&) {
            return std::vector<std::string>{"encoding", "none", "sinusoidal", "learned", "rotary"};
          },
      .measure = [](Lab& lab,
                    const std::string& unit) { return unit == "encoding" ? encodings(lab) : extrapolation(lab, unit); },
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
