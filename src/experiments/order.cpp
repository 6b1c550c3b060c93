// 4. Attention alone does not see order; positions supply it, and so does a causal mask.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/file.h"
#include "base/random.h"
#include "experiments/lab.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/tasks.h"
#include "inspect/session.h"
#include "models/model.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr int kLetters = 8;

// All letters once, in an order of their own.
std::string shuffled_letters(uint64_t key) {
  Random random(key);
  std::string letters;
  for (int i = 0; i < kLetters; ++i) letters += static_cast<char>('a' + i);
  for (int i = kLetters - 1; i > 0; --i) std::swap(letters[i], letters[random.below(i + 1)]);
  return letters;
}

std::string spaced(const std::string& letters) {
  std::string text;
  for (char letter : letters) (text += ' ') += letter;
  return text;
}

constexpr int64_t kHeldOut = 500;

// Which letter comes first? As a label of the text, and as a text that ends in the answer. The bag of letters is the
// same in every text, so that who does not see order can only guess: one in eight.
LabCorpus first_letter(const Lab& lab) {
  const auto lines = lab.pick<int64_t>(20000, 12000, 600);
  return {.key = fmt::format("first letter {}", lines), .write = [lines](const fs::path& folder) {
            for (const bool train : {true, false}) {
              std::string labelled, text;
              for (int64_t i = 0; i < (train ? lines : kHeldOut); ++i) {
                const std::string letters = shuffled_letters(random_key(4, static_cast<uint64_t>(i), train ? 1 : 2));
                labelled += fmt::format("{}\t?{}\n", letters[0], spaced(letters));
                text += fmt::format("?{} = {}\n", spaced(letters), letters[0]);
              }
              write_text(folder / (train ? "train.tsv" : "valid.tsv"), labelled);
              write_text(folder / (train ? "train.txt" : "valid.txt"), text);
            }
          }};
}

constexpr const char* kEncoder = R"(
[data]
train = ["train.tsv"]
valid = ["valid.tsv"]
columns = [1, 0]
labels = true
[tokenizer]
kind = "words"
[model]
model_type = "bert"
hidden_size = 32
num_hidden_layers = 2
num_attention_heads = 2
intermediate_size = 64
max_position_embeddings = 32
type_vocab_size = 1
hidden_act = "gelu"
hidden_dropout_prob = 0.0
attention_probs_dropout_prob = 0.0
)";

constexpr const char* kCausal = R"(
[data]
train = ["train.txt"]
valid = ["valid.txt"]
[tokenizer]
kind = "words"
[model]
model_type = "gpt2"
n_embd = 32
n_layer = 2
n_head = 2
n_positions = 32
embd_pdrop = 0.0
attn_pdrop = 0.0
resid_pdrop = 0.0
limpid = { positions = "none" }
)";

int64_t steps(const Lab& lab) { return lab.pick<int64_t>(1200, 800, 8); }
std::string training_of(int64_t steps) { return to_toml({.steps = steps, .learning_rate = 0.003, .warmup = 50}); }

// What an encoder with random weights makes of tokens in another order, held against what it made of them before.
Json equivariance(const Lab& lab) {
  constexpr int64_t kTokens = 24, kVocabulary = 50;
  const nlohmann::ordered_json json = {
      {"model_type", "bert"},     {"vocab_size", kVocabulary},
      {"hidden_size", 64},        {"num_hidden_layers", 2},
      {"num_attention_heads", 4}, {"intermediate_size", 128},
      {"type_vocab_size", 1},     {"max_position_embeddings", 64},
      {"initializer_range", 0.2}, {"limpid", {{"positions", lab.contrary() ? "sinusoidal" : "none"}}}};
  const auto model = make_model(parse_config(json));
  Parameters parameters([&](const WeightVisitor& visitor) { model->visit_parameters(visitor); });
  parameters.initialize(lab.seed());
  Random random(random_key(lab.seed(), 4, 4));
  std::vector<int32_t> tokens, moved(kTokens);
  for (int64_t i = 0; i < kTokens; ++i) tokens.push_back(static_cast<int32_t>(random.below(kVocabulary)));
  std::vector<int64_t> order(kTokens);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = kTokens - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  for (int64_t i = 0; i < kTokens; ++i) moved[i] = tokens[order[i]];
  const auto vectors = [&](const std::vector<int32_t>& ids) {
    Run run({});
    return model->forward(run, Batch::masked({ids}, {std::vector<int32_t>(ids.size(), 0)}), TokenChoice::all());
  };
  const Tensor before = vectors(tokens), after = vectors(moved);
  double error = 0, largest = 0;
  for (int64_t i = 0; i < kTokens; ++i)
    for (int64_t j = 0; j < before.cols(); ++j) {
      const auto expected = static_cast<double>(before.values().row(order[i])[j]);
      error = std::max(error, std::abs(expected - static_cast<double>(after.values().row(i)[j])));
      largest = std::max(largest, std::abs(expected));
    }
  return {{"error", error / largest}, {"tokens", kTokens}};
}

// How often a language model that sees no positions but a causal mask says the first letter.
Json causal(Lab& lab) {
  // Its loss counts every letter, most of which nobody can foretell: it needs more steps.
  const LabModel trained = lab.train(kCausal + training_of(3 * steps(lab)), {}, first_letter(lab));
  const Session session = open_session(trained.folder);
  int64_t right = 0;
  const auto texts = lab.pick<int64_t>(kHeldOut, 200, 10);
  for (int64_t i = 0; i < texts; ++i) {
    const std::string letters = shuffled_letters(random_key(4, static_cast<uint64_t>(i), 2));
    const Example example = session.example({.text = "?" + spaced(letters) + " =", .target = {}});
    const Tensor logits = forward_logits(session.model(), example, nullptr);
    // A text may end in a token of its own: the answer follows the last "=".
    const int64_t at = std::find(example.input.rbegin(), example.input.rend(), "=").base() - example.input.begin() - 1;
    const real* scores = logits.values().row(at);
    const auto said = static_cast<int32_t>(std::max_element(scores, scores + logits.cols()) - scores);
    right += session.piece(said) == std::string(1, letters[0]) ? 1 : 0;
  }
  return {{"accuracy", 100.0 * static_cast<double>(right) / static_cast<double>(texts)}};
}

Json measure(Lab& lab, const std::string& unit) {
  if (unit == "equivariance") return equivariance(lab);
  if (unit == "causal") return causal(lab);
  const std::string positions = unit == "none" && lab.contrary() ? "sinusoidal" : unit;
  if (positions != unit) lab.instead_of(unit);
  const LabModel model = lab.train(kEncoder + training_of(steps(lab)),
                                   {fmt::format("model.limpid={{positions=\"{}\"}}", positions)}, first_letter(lab));
  return {{"accuracy", model.exact}, {"loss", model.loss}};
}

Json numbers(const Json& units) {
  const auto accuracy = [&](const char* unit) { return units.at(unit).at("accuracy").get<double>(); };
  return {{"equivariance", units.at("equivariance").at("error")},
          {"without", accuracy("none")},
          {"with", std::min({accuracy("sinusoidal"), accuracy("learned"), accuracy("rotary")})},
          {"best", std::max({accuracy("sinusoidal"), accuracy("learned"), accuracy("rotary")})},
          {"causal", accuracy("causal")}};
}

std::vector<Table> tables(const Json& result, Language language) {
  Table table{.caption = Words{"First letter named rightly, mean over the seeds; guessing gives 12.5 %",
                               "첫 글자를 맞힌 비율, 시드 평균; 찍으면 12.5 %"}
                             .in(language),
              .columns = {Words{"model", "모델"}.in(language), "%"}};
  const std::pair<const char*, Words> rows[] = {
      {"none", {"encoder, no positions", "인코더, 위치 없음"}},
      {"sinusoidal", {"encoder, sinusoidal positions", "인코더, 사인파 위치"}},
      {"learned", {"encoder, learned positions", "인코더, 학습된 위치"}},
      {"rotary", {"encoder, rotary positions", "인코더, 회전 위치"}},
      {"causal", {"causal mask, no positions", "인과 마스크, 위치 없음"}}};
  for (const auto& [unit, name] : rows)
    table.rows.push_back({name.in(language), fmt::format("{:.1f}", mean_of(result, unit, "/accuracy"))});
  return {table};
}

// Each seed's accuracy as points, one column per kind of positions.
std::vector<Figure> figures(const Json& result, Language language) {
  Chart chart{.title = Words{"First letter named rightly, %", "첫 글자를 맞힌 비율, %"}.in(language),
              .x_name = Words{"seed", "시드"}.in(language),
              .y_name = "%",
              .guides = {{.y = 12.5, .name = Words{"guessing", "찍기"}.in(language)}},
              .low = 0,
              .high = 100};
  for (const char* unit : {"none", "sinusoidal", "learned", "rotary", "causal"}) {
    ChartSeries series{.name = unit};
    for (const Json& seed : result.at("seeds"))
      series.points.push_back({seed.at("seed").get<double>(), seed.at("units").at(unit).at("accuracy").get<double>()});
    chart.series.push_back(std::move(series));
  }
  return {{.chart = std::move(chart)}};
}

}  // namespace

Experiment order_experiment() {
  using Must = Measure::Must;
  return {
      .number = 4,
      .name = "order",
      .title = {"Order needs positions", "순서를 알려면 위치가 필요합니다"},
      .claim =
          {"Attention treats its input as a set: tokens in another order give the same vectors in that order. What "
           "tells a model the order is what positions add.",
           "어텐션은 입력을 집합으로 다룹니다. 토큰의 순서를 바꾸면 같은 벡터가 그 순서대로 나옵니다. 순서를 알려 주는 "
           "것은 더해진 "
           "위치 정보입니다."},
      .origin =
          {"\"Attention Is All You Need\" (Vaswani et al. 2017), section 3.5; textbook chapter on the Transformer",
           "\"Attention Is All You Need\" (Vaswani 외 2017), 3.5절; 트랜스포머를 다룬 교과서 장"},
      .method =
          {"An encoder with random weights and no positions reads 24 tokens, then the same ones shuffled; its "
           "vectors must be the same ones shuffled, to the precision of the machine's numbers. Then encoders with "
           "no, sinusoidal, learned and rotary positions learn to name the first of eight letters. Every text has "
           "the same eight letters, so that without order one in eight is a guess. A language model without "
           "positions learns the same under a causal mask. The mask lets the first letter see nothing but itself, "
           "which gives the order away.",
           "무작위 가중치를 가진, 위치가 없는 인코더가 토큰 24개를 읽고 다시 그것을 섞어 읽습니다. 벡터들은 기계 "
           "정밀도 "
           "안에서 "
           "섞인 순서대로 같아야 합니다. 그다음 위치 없음, 사인파, 학습, 회전 위치를 쓰는 인코더들이 여덟 글자 가운데 "
           "첫 "
           "글자를 말하는 "
           "법을 배웁니다. 모든 글은 같은 여덟 글자로 되어 있어, 순서를 모르면 여덟에 하나를 맞힐 뿐입니다. 위치가 "
           "없는 언어 모델은 같은 것을 인과 마스크 아래에서 배우며, 마스크 때문에 첫 글자는 자기 자신만 보므로 이것이 "
           "순서를 드러냅니다."},
      .reported =
          {"The paper states it without a measurement. Haviv et al. 2022 report that causal language models "
           "without positions learn them nearly as well.",
           "논문은 측정 없이 말합니다. Haviv 외 2022는 위치가 없는 인과 언어 모델도 위치를 거의 그만큼 배운다고 "
           "보고합니다."},
      .contrary = {"What is said to have no positions has sinusoidal ones.",
                   "위치가 없다고 한 모델에 사인파 위치를 줍니다."},
      .parts =
          {{.key = "equivariance",
            .meaning = {"largest difference between shuffled vectors and vectors of shuffled tokens, in parts of the "
                        "largest value",
                        "섞은 벡터와 섞은 토큰의 벡터 사이 최대 차이 (최댓값에 대한 비)"},
            .must = Must::at_most,
            .threshold = 1e-5,
            .main = true},
           {.key = "without",
            .meaning = {"encoder without positions, % right (guessing: 12.5)",
                        "위치 없는 인코더의 정답률 % (찍기: 12.5)"},
            .must = Must::at_most,
            .threshold = 25},
           {.key = "with",
            .meaning = {"worst of the three kinds of positions, % right", "세 가지 위치 가운데 가장 낮은 정답률 %"},
            .threshold = 90},
           {.key = "causal",
            .meaning = {"causal mask without positions, % right", "위치 없는 인과 마스크 모델의 정답률 %"},
            .threshold = 50}},
      .baseline = Measure{.key = "best",
                          .meaning = {"best of the three kinds of positions, % right",
                                      "세 가지 위치 가운데 가장 높은 정답률 %"},
                          .threshold = 90},
      .full_seconds = 34,
      .quick_seconds = 7,
      .revision = 4,
      .units =
          [](const Lab&) {
            return std::vector<std::string>{"equivariance", "none", "sinusoidal", "learned", "rotary", "causal"};
          },
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
