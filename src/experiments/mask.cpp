// The mask: what a decoder may look at, and what training and writing come to without it.

#include <fmt/format.h>

#include <cstring>
#include <set>

#include "base/random.h"
#include "experiments/english_text.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/untrained.h"
#include "inference/complete.h"
#include "training/recipe.h"
#include "training/run_log.h"

namespace limpid {
namespace {

using Ids = std::vector<std::vector<int32_t>>;

constexpr int64_t kPlaces = 10;  // of a sentence whose losses are told one by one

// A language model has the mask unless it is taken away.
std::vector<std::string> keys_of(bool causal) {
  if (causal) return {};
  return {"model.limpid.causal=false"};
}

// Every token of a text is replaced in turn: rows of logits that differ in any bit, before it and from it on.
Json changed_rows(const Model& model, uint64_t seed) {
  constexpr int64_t kTokens = 32;
  const int64_t vocab = model.config().vocab;
  Random random(random_key(seed, 0, 41));
  std::vector<int32_t> ids(kTokens);
  for (int32_t& id : ids) id = static_cast<int32_t>(random.below(vocab));
  const auto logits = [&](const std::vector<int32_t>& text) {
    Batch batch;
    batch.input = Tokens::of({text});
    Run run({});
    return model.logits(run, batch, TokenChoice::all());
  };
  const Tensor before = logits(ids);
  int64_t earlier = 0, later = 0;
  for (int64_t t = 0; t < kTokens; ++t) {
    std::vector<int32_t> other = ids;
    other[t] = static_cast<int32_t>((other[t] + 1 + random.below(vocab - 1)) % vocab);
    const Tensor after = logits(other);
    for (int64_t row = 0; row < kTokens; ++row)
      (row < t ? earlier : later) += std::memcmp(before.values().row(row), after.values().row(row),
                                                 static_cast<size_t>(vocab) * sizeof(real)) != 0;
  }
  return {{"earlier", earlier}, {"later", later}, {"at_or_after", kTokens * (kTokens + 1) / 2}};
}

// Nats per word where the whole text is read at once, as in training, and where a model is given the words before and
// nothing else, as in writing.
Json losses_of(const Model& model, const Ids& texts) {
  double sum_at_once = 0, sum = 0;
  int64_t words = 0;
  std::vector<double> by_place(kPlaces);
  std::vector<int64_t> count(kPlaces);
  const Arena arena;
  for (const auto& text : texts) {
    Run at_once({.arena = arena});
    sum_at_once += model.loss(at_once, Batch::next_tokens({text}), {}).sum();
    for (size_t i = 1; i < text.size(); ++i) {
      Batch one;
      one.input = Tokens::of({{text.begin(), text.begin() + static_cast<ptrdiff_t>(i)}});
      one.labels.assign(i, -1);
      one.labels.back() = text[i];
      Run run({.arena = arena});
      const double loss = model.loss(run, one, {}).sum();
      sum += loss;
      ++words;
      if (i > kPlaces) continue;
      by_place[i - 1] += loss;
      ++count[i - 1];
    }
  }
  for (int64_t i = 0; i < kPlaces; ++i) by_place[i] /= static_cast<double>(std::max<int64_t>(count[i], 1));
  return {{"at_once", sum_at_once / static_cast<double>(words)},
          {"word_by_word", sum / static_cast<double>(words)},
          {"by_place", by_place}};
}

// Share of neighbouring words in what a model writes that stand beside each other in the training text.
double known_neighbours(const Session& session, const Ids& train, uint64_t seed) {
  std::set<std::pair<int32_t, int32_t>> known;
  for (const auto& ids : train)
    for (size_t i = 0; i + 1 < ids.size(); ++i) known.insert({ids[i], ids[i + 1]});
  std::vector<CompletionRequest> requests;
  for (uint64_t sample = 0; sample < 50; ++sample)
    requests.push_back({.ids = {train.at(sample).at(0)},
                        .options = {.max_tokens = 10, .ignore_end = true, .seed = seed},
                        .sample = sample});
  int64_t all = 0, found = 0;
  for (const Completion& written : complete(session.model(), session.writer(), requests))
    for (size_t i = 0; i + 1 < written.tokens.size(); ++i, ++all)
      found += known.contains({written.tokens[i].id, written.tokens[i + 1].id});
  return static_cast<double>(found) / static_cast<double>(std::max<int64_t>(all, 1));
}

Json trained(Lab& lab, const std::string& unit) {
  const bool causal = unit == "masked" && !lab.contrary();
  if (unit == "masked" && !causal) lab.instead_of(unit);
  lab.part(0, 0.7);
  const LabModel model = train_english(lab, keys_of(causal));
  lab.part(0.7, 1);
  const Session session = open_session(model.folder);
  const RunLog log = read_run_log(model.folder);
  const auto found = log.curves.find("loss");  // none where a run was too short to say
  const RunCurve curve = found == log.curves.end() ? RunCurve{} : smoothed(found->second, 40);
  const std::filesystem::path folder = lab.corpus(english_corpus(english_text(lab)));
  Json json = losses_of(session.model(), read_ids(session, folder / "valid.txt", lab.pick(200, 100, 30)));
  json["steps"] = curve.steps;
  json["curve"] = curve.values;
  lab.progress(0.8, "writing");
  json["known_neighbours"] =
      known_neighbours(session, read_ids(session, folder / "train.txt", english_text(lab).train), lab.seed());
  json["uniform"] = std::log(static_cast<double>(session.config().vocab));
  return json;
}

Json measure(Lab& lab, const std::string& unit) {
  const bool mask = !lab.contrary();
  if (unit != "causality") return trained(lab, unit);
  Json config = parse_recipe(kEnglishRecipe, "experiment", keys_of(mask)).model;
  config["vocab_size"] = 101;
  const UntrainedModel model(parse_config(config), lab.seed());
  return changed_rows(*model.model, lab.seed());
}

Json numbers(const Json& units) {
  const Json &causality = units.at("causality"), &masked = units.at("masked"), &open = units.at("open");
  const auto number = [](const Json& json, const char* key) { return json.at(key).get<double>(); };
  return {{"earlier", causality.at("earlier")},
          {"later", number(causality, "later") / number(causality, "at_or_after")},
          {"parallel", std::abs(number(masked, "at_once") - number(masked, "word_by_word"))},
          {"collapse", number(masked, "at_once") / number(open, "at_once")},
          {"writing", number(open, "word_by_word") - number(masked, "word_by_word")},
          {"neighbours", number(masked, "known_neighbours") - number(open, "known_neighbours")},
          {"learned", number(masked, "at_once") / number(masked, "uniform")}};
}

std::vector<Table> tables(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Table table{.caption = word("Nats per word on held-out sentences, mean over the seeds",
                              "학습하지 않은 문장에서 단어당 손실(nats), 시드 평균"),
              .columns = {"", word("read at once", "한꺼번에 읽을 때"), word("word by word", "한 단어씩 읽을 때"),
                          word("known neighbours in what it writes", "쓴 글에서 학습된 이웃 단어 쌍")},
              .rows = {}};
  for (const bool masked : {true, false}) {
    const std::string unit = masked ? "masked" : "open";
    table.rows.push_back({masked ? word("with the mask", "마스크 있음") : word("without", "마스크 없음"),
                          fmt::format("{:.3f}", mean_of(result, unit, "/at_once")),
                          fmt::format("{:.3f}", mean_of(result, unit, "/word_by_word")),
                          fmt::format("{:.0f} %", 100 * mean_of(result, unit, "/known_neighbours"))});
  }
  return {table};
}

std::vector<Figure> figures(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Chart chart{
      .title = word("Loss of the next word, given only the words before it", "앞 단어만 주었을 때 다음 단어의 손실"),
      .x_name = word("place in the sentence", "문장 속 위치"),
      .y_name = word("nats", "nats"),
      .guides = {{mean_of(result, "masked", "/uniform"), word("guessing evenly", "고르게 추측")}}};
  Chart training{.title = word("Training loss, nats per token", "학습 손실, 토큰당 nats"),
                 .x_name = word("step", "스텝"),
                 .y_name = word("nats", "nats")};
  for (const bool masked : {true, false}) {
    const char* unit = masked ? "masked" : "open";
    ChartSeries series{.name = masked ? word("trained with the mask", "마스크로 학습")
                                      : word("without", "마스크 없이 학습")};
    ChartSeries losses{.name = series.name};
    double place = 1;
    for (double loss : curve_of(result, unit, "/by_place")) series.points.push_back({place++, loss});
    chart.series.push_back(series);
    const std::vector<double> steps = curve_of(result, unit, "/steps"), curve = curve_of(result, unit, "/curve");
    for (size_t i = 0; i < steps.size(); ++i) losses.points.push_back({steps[i], curve[i]});
    training.series.push_back(losses);
  }
  return {{.chart = training},
          {.chart = chart,
           .caption = word("What writing comes to: the model without a mask has learned to look ahead.",
                           "글쓰기의 결과: 마스크 없는 모델은 앞을 내다보는 것만 배웠습니다.")}};
}

}  // namespace

Experiment mask_experiment() {
  return {
      .number = 9,
      .name = "mask",
      .title = {"The mask", "마스크"},
      .claim =
          {"The causal mask hides the future from every token, so that all places of a text can be trained at once.",
           "인과 마스크는 모든 토큰에게 미래를 가리므로, 글의 모든 위치를 한꺼번에 학습할 수 있습니다."},
      .origin =
          {"Paper \"Attention Is All You Need\"; lecture \"How might LLMs store facts\"; textbook chapter on the "
           "Transformer",
           "논문 \"Attention Is All You Need\", 강의 \"How might LLMs store facts\", 트랜스포머를 다룬 교재의 장"},
      .method =
          {"Each of 32 tokens is replaced in turn, and the logits of every place are compared bit for bit. Then two "
           "small language models of English sentences are trained alike, one with the mask and one without. Their "
           "loss is measured on held-out sentences read at once, as in training. It is measured again word by word, as "
           "in writing. "
           "Both write sentences, and we count how many neighbouring words the training text knows as neighbours.",
           "토큰 32개를 하나씩 바꾸며 모든 위치의 로짓을 비트 단위로 비교합니다. 그다음 영어 문장의 작은 언어 모델 "
           "둘을 "
           "마스크만 다르게 하여 똑같이 학습합니다. 학습하지 않은 문장을 학습 때처럼 한꺼번에 읽을 때의 손실을 잽니다. "
           "글을 쓸 "
           "때처럼 한 단어씩 읽을 때의 손실도 잽니다. 두 모델이 문장을 쓰게 하고, 이웃한 단어 쌍이 학습 글에 있는 "
           "비율을 "
           "셉니다."},
      .reported = {"The paper masks by setting the scores of later tokens to −∞ before the softmax, to keep the "
                   "prediction for a place dependent on earlier places only.",
                   "논문은 어떤 위치의 예측이 이전 위치에만 의존하도록, 소프트맥스 전에 뒤 토큰의 점수를 −∞로 둡니다."},
      .contrary = {"The mask is taken away everywhere.", "모든 곳에서 마스크를 없앱니다."},
      .parts = {{"earlier",
                 {"outputs before the changed token that differ in any bit",
                  "바뀐 토큰보다 앞에서 한 비트라도 달라진 출력의 수"},
                 Measure::Must::at_most,
                 0,
                 true},
                {"later",
                 {"share of outputs from the changed token on that differ", "바뀐 토큰부터 뒤에서 달라진 출력의 비율"},
                 Measure::Must::at_least,
                 0.99},
                {"parallel",
                 {"with the mask: difference of the losses read at once and word by word",
                  "마스크가 있을 때, 한꺼번에 읽은 손실과 한 단어씩 읽은 손실의 차이"},
                 Measure::Must::at_most,
                 0.001},
                {"collapse",
                 {"how many times smaller the loss read at once is without the mask",
                  "마스크가 없을 때 한꺼번에 읽은 손실이 몇 배 작은지"},
                 Measure::Must::at_least,
                 5},
                {"writing",
                 {"nats per word by which the model without a mask is worse when it writes",
                  "글을 쓸 때 마스크 없는 모델이 단어당 더 잃는 nats"},
                 Measure::Must::at_least,
                 1},
                {"neighbours",
                 {"share of known neighbours in what is written, by which it is lower without the mask",
                  "쓴 글의 학습된 이웃 비율이 마스크 없을 때 더 낮은 정도"},
                 Measure::Must::at_least,
                 0.3}},
      .baseline = Measure{"learned",
                          {"loss of the masked model as a share of guessing evenly",
                           "마스크 있는 모델의 손실 / 고르게 추측할 때의 손실"},
                          Measure::Must::at_most,
                          0.6},
      .full_seconds = 25,
      .quick_seconds = 2,
      .revision = 2,
      .units =
          [](const Lab&) {
            return std::vector<std::string>{"causality", "masked", "open"};
          },
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
