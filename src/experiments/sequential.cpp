// 2. Recurrent networks go token by token, a Transformer takes the text at once.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/random.h"
#include "base/seconds_since.h"
#include "experiments/lab.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "models/model.h"
#include "training/optimizer.h"

namespace limpid {
namespace {

constexpr const char* kModels[] = {"lstm", "gru", "gru+attention", "transformer"};
constexpr int64_t kVocabulary = 200, kWidth = 64;
constexpr size_t kRuns = 3;  // in which the speed is measured

std::string title_of(const std::string& name) {
  return name == "lstm" ? "LSTM" : name == "gru" ? "GRU" : name == "transformer" ? "Transformer" : "GRU + attention";
}

Config config_of(const std::string& name, int64_t longest) {
  if (name == "transformer")
    return parse_config({{"model_type", "marian"},
                         {"vocab_size", kVocabulary},
                         {"d_model", kWidth},
                         {"encoder_layers", 2},
                         {"decoder_layers", 2},
                         {"encoder_attention_heads", 4},
                         {"decoder_attention_heads", 4},
                         {"encoder_ffn_dim", 128},
                         {"decoder_ffn_dim", 128},
                         {"activation_function", "relu"},
                         {"max_position_embeddings", longest + 2},
                         {"pad_token_id", 0},
                         {"eos_token_id", 2},
                         {"decoder_start_token_id", 0}});
  return parse_config({{"model_type", "rnn_seq2seq"},
                       {"vocab_size", kVocabulary},
                       {"embed_dim", kWidth},
                       {"hidden_size", 128},
                       {"cell", name == "lstm" ? "lstm" : "gru"},
                       {"attention", name == "gru+attention" ? "additive" : "none"},
                       {"layers", 1},
                       {"decoder_start_token_id", 1}});
}

Batch pairs(const Config& config, int64_t length, int64_t sequences) {
  Random random(random_key(2, static_cast<uint64_t>(length), 2));
  std::vector<std::vector<int32_t>> sides[2];
  for (auto& side : sides)
    for (int64_t i = 0; i < sequences; ++i) {
      side.emplace_back();
      for (int64_t t = 0; t < length; ++t)
        side.back().push_back(static_cast<int32_t>(3 + random.below(kVocabulary - 3)));
    }
  return Batch::pairs(sides[0], sides[1], static_cast<int32_t>(*config.decoder_start_token));
}

// A model with its parameters, as training has them.
struct Trained {
  std::unique_ptr<Model> model;
  Parameters parameters;
  explicit Trained(const Config& config)
      : model(make_model(config)), parameters([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); }) {
    parameters.initialize(2);
  }
};

// Every value that a pass computes goes by a tap, one after another as the program computes them. Some do not wait for
// each other (a query and a key), so that their number bounds the longest chain of dependencies from above: where it
// does not grow with the text, the chain does not. Of a recurrent network the state of every step is among them, which
// waits for that of the step before, so that its chain is one state per token at least.
int64_t values_in_turn(const Trained& trained, int64_t length) {
  int64_t values = 0;
  FunctionProbe probe;
  probe.on("*", [&](const Tap&) { ++values; });
  Run run({.probe = &probe});
  trained.model->forward(run, pairs(trained.model->config(), length, 1), TokenChoice::all());
  return values;
}

// Training tokens (of the target) per second, the best of some updates.
double speed(Trained& trained, int64_t length, int64_t tokens, int64_t updates) {
  const Batch batch = pairs(trained.model->config(), length, std::max<int64_t>(tokens / length, 1));
  Gradients gradients(trained.parameters);
  Optimizer optimizer(trained.parameters, {});
  const Arena arena;
  double best = 1e30;
  for (int64_t update = 0; update <= updates; ++update) {  // the first one warms up
    const auto start = std::chrono::steady_clock::now();
    gradients.clear();
    Tape tape(arena, &gradients);
    Run run({.arena = arena, .tape = &tape, .train = true, .seed = 2, .step = static_cast<uint64_t>(update)});
    trained.model->loss(run, batch, {});
    tape.backward();
    optimizer.step(trained.parameters, gradients, 1e-3);
    const double seconds = seconds_since(start);
    if (update > 0) best = std::min(best, seconds);
  }
  return static_cast<double>(batch.input.sequences.tokens()) / best;
}

Json measure(Lab& lab, const std::string& unit) {
  std::vector<double> lengths, chains;
  std::vector<std::vector<double>> runs(kRuns);  // tokens per second: whole runs one after another, not beside others
  const auto longest = lab.pick<int64_t>(1024, 1024, 128);
  Trained trained(config_of(unit == "transformer" && lab.contrary() ? "gru" : unit, longest));
  for (int64_t length = 8; length <= longest; length *= 2) {
    lab.progress(static_cast<double>(length) / static_cast<double>(2 * longest), fmt::format("{} tokens", length));
    lengths.push_back(static_cast<double>(length));
    chains.push_back(static_cast<double>(values_in_turn(trained, length)));
  }
  for (std::vector<double>& speeds : runs)
    for (const double length : lengths) {
      lab.progress(0.5, fmt::format("speed at {} tokens", length));
      speeds.push_back(
          speed(trained, static_cast<int64_t>(length), lab.pick<int64_t>(2048, 1024, 128), lab.pick(2, 1, 1)));
    }
  std::vector<double> middle(lengths.size());
  for (size_t i = 0; i < lengths.size(); ++i) {
    std::vector<double> each;
    for (const std::vector<double>& speeds : runs) each.push_back(speeds[i]);
    std::sort(each.begin(), each.end());
    middle[i] = each[each.size() / 2];
  }
  return {{"lengths", lengths}, {"chain", chains}, {"timed", {{"tokens_per_second", middle}, {"runs", runs}}}};
}

double growth(const Json& list) { return list.back().get<double>() / list.front().get<double>(); }

Json numbers(const Json& units) {
  double least = 1e30, slowest = 0;
  const auto last_speed = [&](const char* unit) {
    return units.at(unit).at("timed").at("tokens_per_second").back().get<double>();
  };
  for (const char* unit : {"lstm", "gru", "gru+attention"}) {
    least = std::min(least, growth(units.at(unit).at("chain")));
    slowest = std::max(slowest, last_speed(unit));
  }
  return {{"transformer_growth", growth(units.at("transformer").at("chain"))},
          {"recurrent_growth", least / growth(units.at("lstm").at("lengths"))},
          {"speed_ratio", last_speed("transformer") / slowest}};
}

std::vector<Figure> figures(const Json& result, Language language) {
  const struct {
    const char* pointer;
    Words title, y;
  } kinds[] = {{"/chain",
                {"Values that a pass computes one after another, log₂", "한 번의 계산이 차례로 구하는 값의 수, log₂"},
                {"log₂ of the values", "값의 수의 log₂"}},
               {"/timed/tokens_per_second",
                {"Training speed, thousands of tokens per second, median of three runs",
                 "학습 속도, 초당 토큰 (천), 세 번의 중앙값"},
                {"thousand tokens/s", "천 토큰/초"}}};
  std::vector<Figure> all;
  for (const auto& kind : kinds) {
    Chart chart{.title = kind.title.in(language),
                .x_name = Words{"tokens of a text", "글의 토큰 수"}.in(language),
                .y_name = kind.y.in(language),
                .log_x = true};
    for (const char* unit : kModels) {
      ChartSeries series{.name = title_of(unit)};
      const std::vector<double> x = curve_of(result, unit, "/lengths"), y = curve_of(result, unit, kind.pointer);
      for (size_t i = 0; i < x.size(); ++i)
        series.points.push_back({x[i], std::string(kind.pointer) == "/chain" ? std::log2(y[i]) : y[i] / 1000});
      chart.series.push_back(std::move(series));
    }
    all.push_back({.chart = std::move(chart)});
  }
  return all;
}

std::vector<Table> tables(const Json& result, Language language) {
  Table table{.caption = Words{"Shortest and longest text", "가장 짧은 글과 가장 긴 글"}.in(language),
              .columns = {"", Words{"values one after another", "차례로 구하는 값"}.in(language),
                          Words{"tokens per second", "초당 토큰"}.in(language),
                          Words{"three runs at the longest", "가장 긴 글에서 세 번"}.in(language)}};
  for (const char* unit : kModels) {
    const std::vector<double> chains = curve_of(result, unit, "/chain");
    const std::vector<double> speeds = curve_of(result, unit, "/timed/tokens_per_second");
    std::string runs;
    for (const Json& run : result.at("seeds").at(0).at("units").at(unit).at("timed").at("runs"))
      runs += fmt::format("{}{:.0f}", runs.empty() ? "" : ", ", run.back().get<double>());
    table.rows.push_back({title_of(unit), fmt::format("{:.0f} … {:.0f}", chains.front(), chains.back()),
                          fmt::format("{:.0f} … {:.0f}", speeds.front(), speeds.back()), runs});
  }
  return {table};
}

}  // namespace

Experiment sequential_experiment() {
  using Must = Measure::Must;
  return {
      .number = 2,
      .name = "sequential",
      .title = {"Token by token, or the whole text at once", "한 토큰씩, 아니면 글 전체를 한꺼번에"},
      .claim =
          {"A recurrent network must finish a token before it begins the next; a Transformer computes all tokens of "
           "a text at the same time, whatever its length.",
           "순환 신경망은 한 토큰을 끝내야 다음을 시작할 수 있고, 트랜스포머는 길이에 상관없이 글의 모든 토큰을 동시에 "
           "계산합니다."},
      .origin = {"Textbook chapter on the Transformer; \"Attention Is All You Need\" (Vaswani et al. 2017), table 1",
                 "트랜스포머를 다룬 교과서 장; \"Attention Is All You Need\" (Vaswani 외 2017), 표 1"},
      .method =
          {"LSTM, GRU, GRU with attention and Transformer read and write texts of 8 to 1,024 tokens. The values that "
           "a pass computes one after another are counted while it runs: no chain of values that wait for each other "
           "can be longer, and each state of a recurrent network waits for the one before. The count of a recurrent "
           "network must grow with the length, that of the Transformer must not. Training steps of equally many tokens "
           "are timed as well, in three runs. The verdict rests on the count; the median speed of this machine decides "
           "only whether the claim holds in full.",
           "LSTM, GRU, 어텐션을 더한 GRU, 트랜스포머가 8~1,024 토큰의 글을 읽고 씁니다. 한 번의 계산이 차례로 구하는 "
           "값의 수를 실행 중에 세는데, 서로를 기다리는 값의 사슬은 이보다 길 수 없고 순환 신경망의 상태는 저마다 앞의 "
           "상태를 기다립니다. 순환 신경망의 수는 길이와 함께 늘어야 하고 트랜스포머의 수는 늘지 않아야 합니다. 토큰 "
           "수가 "
           "같은 학습 "
           "스텝의 시간도 세 번 잽니다. 판정은 센 수에 따르며, 이 기계의 중앙값 속도는 주장이 온전히 성립하는지만 "
           "가릅니다."},
      .reported = {"The paper's table 1: sequential operations O(n) for recurrent layers, O(1) for self-attention.",
                   "논문의 표 1: 순차 연산은 순환 층이 O(n), 셀프 어텐션이 O(1)."},
      .contrary = {"A GRU takes the place of the Transformer.", "트랜스포머 자리에 GRU를 놓습니다."},
      .parts =
          {{.key = "transformer_growth",
            .meaning =
                {"values that a Transformer computes one after another for the longest text, in parts of those for the "
                 "shortest",
                 "가장 긴 글에서 트랜스포머가 차례로 구하는 값의 수 (가장 짧은 글에 대한 비)"},
            .must = Must::at_most,
            .threshold = 1.01,
            .main = true},
           {.key = "recurrent_growth",
            .meaning = {"the same of the recurrent networks, least of them, in parts of the growth of the text",
                        "순환 신경망의 같은 비 가운데 최솟값 (글 길이 증가에 대한 비)"},
            .threshold = 0.8},
           {.key = "speed_ratio",
            .meaning = {"training speed of the Transformer at the longest text, in parts of the fastest recurrent "
                        "network's",
                        "가장 긴 글에서 트랜스포머의 학습 속도 (가장 빠른 순환 신경망에 대한 비)"},
            .threshold = 1,
            .timed = true}},
      .counted = true,
      .full_seconds = 24,
      .quick_seconds = 11,
      .revision = 2,
      .units = [](const Lab&) { return std::vector<std::string>(std::begin(kModels), std::end(kModels)); },
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
