// 8. Several heads see several relations.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "corpora/english_korean.h"
#include "experiments/lab.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/tasks.h"
#include "inspect/aer.h"
#include "inspect/head_statistics.h"
#include "inspect/session.h"
#include "text/line_reader.h"

namespace limpid {
namespace {

constexpr int kHeads[] = {1, 2, 4, 8};

std::vector<AlignedPair> held_out(int64_t count) {
  std::vector<AlignedPair> pairs;
  const EnglishKorean corpus;
  for (int64_t i = 0; i < count; ++i) {
    const SentencePair pair = corpus.pair(static_cast<uint64_t>(i), Split::test);
    pairs.push_back({pair.english, pair.korean, pair.alignment});
  }
  return pairs;
}

// The mean cosine between what two heads of one layer look at, over the same text; one head: none, 0.
double similarity(const Session& session, const std::vector<AlignedPair>& pairs) {
  double sum = 0, count = 0;
  FunctionProbe probe;
  probe.on("*.pattern", [&](const Tap& tap) {
    for (int64_t a = 0; a < tap.layout.heads; ++a)
      for (int64_t b = a + 1; b < tap.layout.heads; ++b) {
        const ConstMatrix x = tap.pairs(0, a), y = tap.pairs(0, b);
        double xy = 0, xx = 0, yy = 0;
        for (int64_t i = 0; i < x.rows; ++i)
          for (int64_t j = 0; j < x.cols; ++j) {
            const auto p = static_cast<double>(x.row(i)[j]), q = static_cast<double>(y.row(i)[j]);
            xy += p * q, xx += p * p, yy += q * q;
          }
        sum += xy / std::sqrt(xx * yy);
        ++count;
      }
  });
  for (const AlignedPair& pair : pairs)
    forward_logits(session.model(), session.example({.text = pair.source, .target = pair.target}), &probe);
  return count > 0 ? sum / count : 0;
}

// Alignment error of each head of cross-attention.
Json alignment_errors(const Session& session, const std::vector<AlignedPair>& pairs) {
  Json heads = Json::array();
  for (const AlignmentScore& score : score_alignments(session.model(), session.loaded.tokenizers, pairs))
    if (score.which.head && score.which.layer)
      heads.push_back(
          {{"layer", *score.which.layer}, {"head", *score.which.head}, {"error", score.counts.error_rate()}});
  return heads;
}

// Of the validation's target side, with the token that ends each: a model of another seed has other subwords.
int64_t target_tokens(const Session& session, const std::filesystem::path& file) {
  int64_t tokens = 0;
  LineReader reader(file.string());
  while (const auto line = reader.next()) tokens += std::ssize(session.writer().encode(*line)) + 1;
  return tokens;
}

Json measure(Lab& lab, const std::string& unit) {
  const int heads = lab.contrary() ? 1 : std::stoi(unit);
  if (std::to_string(heads) != unit) lab.instead_of(unit);
  std::vector<std::string> keys;
  if (lab.planted() && heads == 1)
    keys.push_back(fmt::format("stop.steps={}", std::max<int64_t>(translator_steps(lab) / 5, 1)));
  const LabModel model = train_translator(lab, heads, keys);
  const Session session = open_session(model.folder);
  const std::vector<AlignedPair> pairs = held_out(lab.pick<int64_t>(60, 30, 2));
  const Json alignments = alignment_errors(session, pairs);
  double best = 1, worst = 0;
  for (const Json& one : alignments) {
    best = std::min(best, one.at("error").get<double>());
    worst = std::max(worst, one.at("error").get<double>());
  }
  Json json = {
      {"loss", model.loss},       {"bleu", model.bleu},
      {"exact", model.exact},     {"best_alignment", best},
      {"worst_alignment", worst}, {"similarity", similarity(session, pairs)},
      {"alignments", alignments}, {"tokens", target_tokens(session, lab.corpus(sentences_corpus(lab)) / "valid.ko")}};
  size_t next = 0;
  for (const HeadStatistics& head : head_statistics(session.model(), [&]() -> std::optional<Example> {
         if (next == pairs.size()) return std::nullopt;
         const AlignedPair& pair = pairs[next++];
         return session.example({.text = pair.source, .target = pair.target});
       }))
    json["heads"].push_back({{"attention", head.attention},
                             {"head", head.head},
                             {"entropy", head.entropy},
                             {"first", head.first},
                             {"previous", head.previous.value_or(0)},
                             {"distance", head.distance.value_or(0)}});
  return json;
}

Json numbers(const Json& units) {
  const Json& four = units.at("4");
  // Nats per token of the first model's subwords.
  const auto loss = [&](const char* unit) {
    const Json& one = units.at(unit);
    return one.at("loss").get<double>() * one.at("tokens").get<double>() / units.at("1").at("tokens").get<double>();
  };
  return {{"gain", std::min(loss("1"), loss("1 again")) - std::max(loss("4"), loss("4 again"))},
          {"similarity", four.at("similarity")},
          {"specialised", four.at("worst_alignment").get<double>() - four.at("best_alignment").get<double>()},
          {"loss", four.at("loss")}};
}

std::vector<Figure> figures(const Json& result, Language language) {
  Chart chart{.title = Words{"Held-out loss by the number of heads at equal cost, nats per token",
                             "같은 비용에서 헤드 수에 따른 검증 손실, 토큰당 nat"}
                           .in(language),
              .x_name = Words{"heads", "헤드 수"}.in(language),
              .y_name = Words{"loss", "손실"}.in(language),
              .log_x = true};
  for (const Json& seed : result.at("seeds")) {
    ChartSeries series{.name = fmt::format("{} {}", Words{"seed", "시드"}.in(language), seed.at("seed").get<int>())};
    for (const int heads : kHeads)
      series.points.push_back(
          {static_cast<double>(heads), seed.at("units").at(std::to_string(heads)).at("loss").get<double>()});
    chart.series.push_back(std::move(series));
  }
  return {{.chart = std::move(chart)}};
}

std::vector<Table> tables(const Json& result, Language language) {
  Table table{
      .caption = Words{"Mean over the seeds", "시드 평균"}.in(language),
      .columns = {Words{"heads", "헤드 수"}.in(language), Words{"loss", "손실"}.in(language), "BLEU",
                  Words{"similarity of heads", "헤드 사이 유사도"}.in(language),
                  Words{"alignment error, best and worst head", "정렬 오류율, 가장 좋은/나쁜 헤드"}.in(language)}};
  for (const int heads : kHeads) {
    const std::string unit = std::to_string(heads);
    const auto mean = [&](const char* pointer) { return mean_of(result, unit, pointer); };
    table.rows.push_back({unit, fmt::format("{:.3f}", mean("/loss")), fmt::format("{:.1f}", mean("/bleu")),
                          heads == 1 ? "" : fmt::format("{:.2f}", mean("/similarity")),
                          fmt::format("{:.2f}, {:.2f}", mean("/best_alignment"), mean("/worst_alignment"))});
  }
  Table roles{.caption = Words{"What each head of the model with four heads does (first seed)",
                               "헤드가 넷인 모델에서 각 헤드가 하는 일 (첫 시드)"}
                             .in(language),
              .columns = {Words{"attention", "어텐션"}.in(language), Words{"head", "헤드"}.in(language),
                          Words{"entropy, bits", "엔트로피, 비트"}.in(language),
                          Words{"on the first token", "첫 토큰에"}.in(language),
                          Words{"on the token before", "바로 앞 토큰에"}.in(language),
                          Words{"mean distance", "평균 거리"}.in(language)}};
  for (const Json& head : result.at("seeds").at(0).at("units").at("4").at("heads")) {
    // Of a text that looks at another one no token is the one before.
    const bool self = head.at("attention").get<std::string>().ends_with("self_attn");
    roles.rows.push_back({head.at("attention"), std::to_string(head.at("head").get<int>()),
                          fmt::format("{:.2f}", head.at("entropy").get<double>()),
                          fmt::format("{:.2f}", head.at("first").get<double>()),
                          self ? fmt::format("{:.2f}", head.at("previous").get<double>()) : "",
                          self ? fmt::format("{:.1f}", head.at("distance").get<double>()) : ""});
  }
  Table alignments{
      .caption = Words{"Alignment error of each head of cross-attention, model with four heads (first seed)",
                       "헤드가 넷인 모델에서 크로스 어텐션 헤드별 정렬 오류율 (첫 시드)"}
                     .in(language),
      .columns = {Words{"layer", "층"}.in(language), Words{"head", "헤드"}.in(language),
                  Words{"alignment error", "정렬 오류율"}.in(language)}};
  for (const Json& one : result.at("seeds").at(0).at("units").at("4").at("alignments"))
    alignments.rows.push_back({std::to_string(one.at("layer").get<int>()), std::to_string(one.at("head").get<int>()),
                               fmt::format("{:.2f}", one.at("error").get<double>())});
  return {table, roles, alignments};
}

}  // namespace

Experiment heads_experiment() {
  using Must = Measure::Must;
  return {
      .number = 8,
      .name = "heads",
      .title = {"Several heads see several relations", "여러 헤드는 여러 관계를 봅니다"},
      .claim = {"One head can look at one thing at a time; several heads of the same total size look at several things "
                "at once, and the model is better for it.",
                "헤드 하나는 한 번에 한 가지를 볼 수 있지만, 전체 크기가 같은 여러 헤드는 여러 가지를 한꺼번에 보며 "
                "그만큼 모델이 나아집니다."},
      .origin = {"\"Attention Is All You Need\" (Vaswani et al. 2017), section 3.2.2 and table 3 (A)",
                 "\"Attention Is All You Need\" (Vaswani 외 2017), 3.2.2절과 표 3 (A)"},
      .method =
          {"Translators of width 64 with 1, 2, 4 and 8 heads learn English to Korean from the project's own "
           "grammar, with equal parameters, equal steps and the same sentences. With one head and with four two models "
           "are trained that differ in their first weights and the order of texts: even the worse one with four must "
           "beat the better one with one. Of the trained models, the patterns of two heads of a layer over the same "
           "text "
           "are compared by their cosine. The true word alignment is known, so that it can be said which head of "
           "cross-attention looks at the words it translates. Statistics say what the others do.",
           "폭이 64이고 헤드가 1, 2, 4, 8개인 번역 모델들이 이 프로젝트의 문법에서 나온 영한 문장을 같은 매개변수 수, "
           "같은 스텝, 같은 문장으로 배웁니다. 헤드가 하나일 때와 넷일 때는 처음 가중치와 글의 순서가 다른 두 모델씩 "
           "학습하며, 넷인 모델 가운데 나쁜 것도 하나인 모델 가운데 좋은 것보다 나아야 합니다. 학습된 모델에서 한 층의 "
           "두 헤드가 같은 글에서 보이는 패턴을 코사인으로 비교합니다. 참된 단어 정렬을 알고 있으므로 크로스 어텐션의 "
           "어느 헤드가 번역할 단어를 보는지 말할 수 있습니다. 나머지가 하는 일은 통계가 말해 줍니다."},
      .reported = {"The paper's table 3 (A): one head is 0.9 BLEU worse than eight; with 32 heads quality drops again.",
                   "논문의 표 3 (A): 헤드 하나는 여덟보다 0.9 BLEU 낮고, 32개에서는 품질이 다시 떨어집니다."},
      .contrary = {"All models have one head, each with weights of its own.",
                   "모든 모델의 헤드가 하나이며, 가중치는 저마다 다릅니다."},
      .planted = {"Models with one head learn for a fifth of the steps.",
                  "헤드가 하나인 모델은 스텝의 5분의 1만 배웁니다."},
      .parts =
          {{.key = "gain",
            .meaning = {"the lower loss of two models with one head minus the higher of two with four, nats per token",
                        "헤드가 하나인 두 모델 가운데 낮은 손실에서 넷인 두 모델 가운데 높은 손실을 뺀 값, 토큰당 nat"},
            .threshold = 0.01,
            .main = true},
           {.key = "similarity",
            .meaning = {"mean cosine between patterns of two heads of a layer (four heads)",
                        "한 층의 두 헤드 패턴 사이 평균 코사인 (헤드 넷)"},
            .must = Must::at_most,
            .threshold = 0.8},
           {.key = "specialised",
            .meaning = {"alignment error of the worst head minus that of the best (four heads)",
                        "정렬 오류율: 가장 나쁜 헤드에서 가장 좋은 헤드를 뺀 값 (헤드 넷)"},
            .threshold = 0.2}},
      .baseline = Measure{.key = "loss",
                          .meaning = {"loss with four heads, nats per token", "헤드가 넷인 모델의 손실, 토큰당 nat"},
                          .must = Must::at_most,
                          .threshold = 1.5},
      .seeds = 6,
      .full_seconds = 690,
      .quick_seconds = 42,
      .revision = 2,
      .units = [](const Lab&) { return std::vector<std::string>{"1", "2", "4", "8", "1 again", "4 again"}; },
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
