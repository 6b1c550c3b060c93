// Facts live in the feed-forward networks: located, silenced, rewritten.

#include <fmt/format.h>

#include "base/random.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/statistics.h"
#include "experiments/tasks.h"
#include "inspect/fact_study_json.h"

namespace limpid {
namespace {

// Every other paraphrase of a fact: neurons are found by some, and judged by the rest. With the effect planted all
// serve both, so that no fact can be said in a way that its neurons were not found by.
std::vector<size_t> half(const Lab& lab, const FactPrompts& prompts, size_t fact, bool judged) {
  if (lab.planted()) return prompts.of_fact(fact);
  std::vector<size_t> paraphrases;
  for (size_t paraphrase : prompts.of_fact(fact))
    if ((prompts.all()[paraphrase].pattern % 2 == 1) == judged) paraphrases.push_back(paraphrase);
  return paraphrases;
}

// Silences so many neurons, and says in what share of the paraphrases that judge the fact is lost.
double lost_without(const Lab& lab, const FactPrompts& prompts, size_t fact, const std::vector<NeuronId>& neurons) {
  SilentNeurons probe(neurons);
  const std::vector<size_t> paraphrases = half(lab, prompts, fact, true);
  const std::vector<FactAnswer> answers = prompts.ask(paraphrases, &probe);
  int64_t lost = 0;
  for (size_t i = 0; i < paraphrases.size(); ++i) lost += answers[i].said != prompts.all()[paraphrases[i]].answer;
  return static_cast<double>(lost) / static_cast<double>(paraphrases.size());
}

std::vector<NeuronId> ids_of(const Ablation& ablation) {
  std::vector<NeuronId> ids;
  for (const FactNeuron& neuron : ablation.neurons) ids.push_back(neuron.id);
  return ids;
}

std::vector<NeuronId> random_neurons(const Config& config, size_t count, Random& random) {
  std::vector<NeuronId> ids;
  while (ids.size() < count) {
    const NeuronId id{random.below(config.decoder.layers), random.below(config.decoder.ffn)};
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

struct SilencedFact {
  size_t fact = 0;
  Ablation ablation;
};

// Facts that the model knows in every paraphrase, and the neurons found for each.
std::vector<SilencedFact> silence_facts(Lab& lab, const Session& session, const FactPrompts& prompts, size_t facts) {
  Random random(random_key(lab.seed(), 0, 71));
  const auto draw = [&](size_t below) { return static_cast<size_t>(random.below(static_cast<int64_t>(below))); };
  std::vector<size_t> compared;
  for (int i = 0; i < lab.pick(200, 100, 10); ++i) compared.push_back(draw(prompts.all().size()));
  std::vector<double> elsewhere = neuron_worth(session, prompts, compared);
  for (double& worth : elsewhere) worth = std::max(worth, 0.0);
  const auto wanted = lab.pick<size_t>(20, 8, 2);
  std::vector<SilencedFact> silenced;
  for (size_t tries = 0; silenced.size() < wanted && tries < 50 * wanted; ++tries) {
    const size_t fact = draw(facts);
    if (prompts.recall(prompts.of_fact(fact)) < 1) continue;
    const std::vector<size_t> paraphrases = half(lab, prompts, fact, false);
    lab.progress(static_cast<double>(silenced.size()) / static_cast<double>(wanted), "silencing neurons");
    const auto ranked =
        rank_neurons(neuron_worth(session, prompts, paraphrases), elsewhere, session.config().decoder.ffn);
    constexpr size_t kMostNeurons = 64;
    silenced.push_back({fact, ablate_fact(prompts, fact, paraphrases, ranked, kMostNeurons)});
  }
  return silenced;
}

// Share of paraphrases lost by silencing the neurons that were found for a fact (contrary: for another fact), and by as
// many random ones.
Json silencing(Lab& lab, const Session& session, const FactWorld& world) {
  const FactPrompts prompts(session, world);
  const std::vector<SilencedFact> all = silence_facts(lab, session, prompts, world.facts().size());
  Random random(random_key(lab.seed(), 0, 72));
  std::vector<double> found, control, others, neurons;
  for (size_t i = 0; i < all.size(); ++i) {
    const SilencedFact& own = all[i];
    const SilencedFact& taken = lab.contrary() ? all[(i + 1) % all.size()] : own;
    const size_t count = own.ablation.neurons.size();
    found.push_back(lost_without(lab, prompts, own.fact, ids_of(taken.ablation)));
    control.push_back(lost_without(lab, prompts, own.fact, random_neurons(session.config(), count, random)));
    others.push_back(own.ablation.others_kept);
    neurons.push_back(static_cast<double>(count));
  }
  return {{"facts", all.size()},
          {"neurons", mean(neurons)},
          {"of", session.config().decoder.layers * session.config().decoder.ffn},
          {"found", mean(found)},
          {"random", mean(control)},
          {"others_kept", mean(others)}};
}

Json trace_json(const FactStudy& study) {
  Json list = Json::array();
  for (const MeanTrace& one : study.mean_trace)
    list.push_back({{"name", one.name},
                    {"first_subject", one.first_subject},
                    {"last_subject", one.last_subject},
                    {"between", one.between},
                    {"last", one.last}});
  return list;
}

// The same facts rewritten by as many columns drawn at random: the share whose new word is said.
double rewritten_at_random(const Lab& lab, const Session& session, const FactWorld& world,
                           const std::vector<FactEdit>& edits) {
  const FactPrompts prompts(session, world);
  const FactEditor editor(session, world, prompts, {.random_columns = lab.seed()});
  std::vector<double> took;
  for (const FactEdit& edit : edits) took.push_back(editor.edit(edit.fact, edit.after).took ? 1 : 0);
  return mean(took);
}

Json measure(Lab& lab, const std::string&) {
  lab.part(0, 0.6);
  const LabModel model = train_facts(lab);
  lab.part(0.6, 0.85);
  const Session session = open_session(model.folder);
  const FactWorld world;
  const FactStudyOptions options{
      .traced = lab.pick(20, 5, 1), .compared = 10, .ablated = 0, .edited = lab.pick(30, 8, 2), .seed = lab.seed()};
  const FactStudy study =
      study_facts(session, world, options, [&](double share, const std::string& what) { lab.progress(share, what); });
  lab.part(0.85, 1);
  const EditSummary edits(study.edits);
  return {{"facts", study.facts},
          {"recall", study.recall_facts},
          {"recall_held_out", study.recall_held_out},
          {"trace", trace_json(study)},
          {"silenced", silencing(lab, session, world)},
          {"rewritten",
           {{"facts", study.edits.size()},
            {"took", edits.took},
            {"random", rewritten_at_random(lab, session, world, study.edits)},
            {"paraphrases", edits.paraphrases},
            {"held_out", edits.held_out},
            {"others_same", edits.others},
            {"same_subject", edits.subject},
            {"change", edits.change}}}};
}

// The most that giving back one clean vector of a kind restores, over layers, at the tokens of the subject.
double restored(const Json& trace, const char* kind) {
  double most = 0;
  for (const Json& one : trace)
    if (one.at("name") == kind)
      for (const char* place : {"first_subject", "last_subject"})
        for (double share : one.at(place)) most = std::max(most, share);
  return most;
}

Json numbers(const Json& units) {
  const Json& one = units.at("study");
  return {{"silenced", one.at("silenced").at("found")},
          {"random", one.at("silenced").at("random")},
          {"others_kept", one.at("silenced").at("others_kept")},
          {"located", restored(one.at("trace"), "ffn_out") - restored(one.at("trace"), "attn_out")},
          {"rewritten", one.at("rewritten").at("took")},
          {"rewritten_random", one.at("rewritten").at("random")},
          {"held_out", one.at("rewritten").at("held_out")},
          {"others_same", one.at("rewritten").at("others_same")},
          {"recall", one.at("recall")}};
}

std::vector<Figure> figures(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Chart chart{.title = word("Share of the answer that one clean vector restores, by block",
                            "깨끗한 벡터 하나가 되살리는 답의 비율"),
              .x_name = word("block", "블록"),
              .y_name = word("restored", "되살린 비율")};
  struct Line {
    const char *kind, *place;
    Words name;
  };
  constexpr Line kLines[] = {{"ffn_out", "last_subject", {"network, at the name", "신경망, 이름 위치"}},
                             {"ffn_out", "last", {"network, at the last word", "신경망, 마지막 단어"}},
                             {"attn_out", "last_subject", {"attention, at the name", "어텐션, 이름 위치"}},
                             {"attn_out", "last", {"attention, at the last word", "어텐션, 마지막 단어"}}};
  const Json& trace = result.at("seeds").at(0).at("units").at("study").at("trace");
  for (const Line& line : kLines)
    for (size_t i = 0; i < trace.size(); ++i) {
      if (trace[i].at("name") != line.kind) continue;
      ChartSeries series{.name = line.name.in(language)};
      double block = 0;
      for (double share : curve_of(result, "study", fmt::format("/trace/{}/{}", i, line.place)))
        series.points.push_back({block++, share});
      chart.series.push_back(series);
    }
  return {{.chart = chart,
           .caption = word(
               "Causal tracing: the names are made unrecognisable by noise, then one vector gets its clean value back.",
               "인과 추적: 이름을 잡음으로 알아볼 수 없게 한 뒤 벡터 하나만 원래 값으로 되돌립니다.")}};
}

std::vector<Table> tables(const Json& result, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  Table table{.caption = word("Mean over facts and seeds", "사실과 시드의 평균"), .columns = {"", ""}, .rows = {}};
  const auto add = [&](const char* english, const char* korean, const char* pointer, bool percent = true) {
    const double value = mean_of(result, "study", pointer);
    table.rows.push_back(
        {word(english, korean), percent ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.1f}", value)});
  };
  add("facts recalled", "떠올린 사실", "/recall");
  add("recalled in paraphrases never trained", "학습하지 않은 표현으로 떠올린 사실", "/recall_held_out");
  add("neurons silenced per fact", "사실마다 끈 뉴런 수", "/silenced/neurons", false);
  add("paraphrases lost by them", "그 뉴런을 껐을 때 잃은 표현", "/silenced/found");
  add("paraphrases lost by as many random neurons", "같은 수의 무작위 뉴런을 껐을 때 잃은 표현", "/silenced/random");
  add("other facts kept", "유지된 다른 사실", "/silenced/others_kept");
  add("facts rewritten: the new word is said", "다시 쓴 사실: 새 단어를 말함", "/rewritten/took");
  add("the same by as many random columns", "같은 수의 무작위 열로 다시 쓸 때", "/rewritten/random");
  add("in paraphrases never trained", "학습하지 않은 표현에서도", "/rewritten/held_out");
  add("other facts unchanged", "바뀌지 않은 다른 사실", "/rewritten/others_same");
  add("other facts about the same subject unchanged", "바뀌지 않은 같은 인물의 다른 사실", "/rewritten/same_subject");
  return {table};
}

}  // namespace

Experiment facts_experiment() {
  return {
      .number = 15,
      .name = "facts",
      .title = {"Facts live in the feed-forward networks", "사실은 순방향 신경망에 저장됩니다"},
      .claim = {"Facts such as \"Michael Jordan plays the sport of basketball\" are stored in the feed-forward "
                "networks: rows of "
                "the up-projection ask, columns of the down-projection answer.",
                "\"Michael Jordan plays the sport of basketball\" 같은 사실은 순방향 신경망에 저장됩니다. 상향 투영의 "
                "행이 묻고 "
                "하향 투영의 열이 답합니다."},
      .origin = {"Lecture \"How might LLMs store facts\" (3Blue1Brown) and study notes on it",
                 "강의 \"How might LLMs store facts\" (3Blue1Brown)와 그 학습 노트"},
      .method =
          {"A small language model learns a world of some 1,300 facts about invented and real persons. For twenty "
           "facts, the "
           "neurons whose silence would cost the answer most, and other facts least, are found by gradients in half of "
           "its "
           "paraphrases and silenced, one after another, until the fact is lost in all of those. What counts is the "
           "other half, and as many random neurons are the control, of silencing and of rewriting. Causal tracing says "
           "whether networks or attention restore the answer at the tokens of the "
           "name. Then facts are rewritten by a closed-form change to the columns of one down-projection.",
           "작은 언어 모델이 가상의 인물과 실제 인물에 관한 약 1,300개의 사실을 배웁니다. 사실 스무 개마다, 껐을 때 그 "
           "답은 "
           "가장 많이, 다른 사실은 가장 적게 잃는 뉴런을 절반의 표현에서 기울기로 찾아, 그 표현 모두에서 사실을 잃을 "
           "때까지 "
           "하나씩 끕니다. 판정은 나머지 절반으로 하며, 끄기와 다시 쓰기 모두 같은 수의 무작위 뉴런이 대조군입니다. "
           "인과 추적으로 이름 토큰에서 신경망과 어텐션 가운데 어느 "
           "쪽이 "
           "답을 되살리는지 봅니다. 이어서 하향 투영 하나의 열을 닫힌 식으로 바꾸어 사실을 다시 씁니다."},
      .reported = {"Meng et al. 2022 locate facts of GPT-2 XL in the networks of middle layers at the last token of "
                   "the subject, "
                   "and rewrite them there (ROME).",
                   "Meng 외 2022는 GPT-2 XL의 사실이 주어의 마지막 토큰, 중간 층의 신경망에 있음을 찾고 그곳에서 다시 "
                   "씁니다 (ROME)."},
      .contrary = {"The neurons silenced are those found for another fact.", "다른 사실에서 찾은 뉴런을 끕니다."},
      .planted = {"The neurons are judged by the same paraphrases that they were found by.",
                  "뉴런을 찾은 바로 그 표현으로 판정합니다."},
      .parts = {{"silenced",
                 {"share of paraphrases, other than those they were found by, lost by silencing the neurons found",
                  "찾을 때 쓰지 않은 표현 가운데 찾은 뉴런을 껐을 때 잃은 비율"},
                 Measure::Must::at_least,
                 0.8,
                 true},
                {"random",
                 {"the same with as many random neurons", "같은 수의 무작위 뉴런일 때"},
                 Measure::Must::at_most,
                 0.1},
                {"others_kept",
                 {"share of the other facts that stay", "그대로 남은 다른 사실의 비율"},
                 Measure::Must::at_least,
                 0.9},
                {"located",
                 {"share restored at the name by a network's output, beyond the best of attention",
                  "이름 위치에서 신경망 출력이 되살린 비율에서 어텐션의 최고치를 뺀 값"},
                 Measure::Must::at_least,
                 0.1},
                {"rewritten",
                 {"share of rewritten facts whose new word is said", "다시 쓴 사실 가운데 새 단어를 말한 비율"},
                 Measure::Must::at_least,
                 0.9},
                {"rewritten_random",
                 {"the same by as many random neurons", "같은 수의 무작위 뉴런으로 다시 쓸 때"},
                 Measure::Must::at_most,
                 0.1},
                {"held_out",
                 {"share rewritten in paraphrases never trained", "학습하지 않은 표현에서도 다시 쓰인 비율"},
                 Measure::Must::at_least,
                 0.6},
                {"others_same",
                 {"share of the other facts that a rewriting leaves unchanged",
                  "다시 쓴 뒤 바뀌지 않은 다른 사실의 비율"},
                 Measure::Must::at_least,
                 0.95}},
      .baseline = Measure{"recall",
                          {"share of the facts that the model recalls", "모델이 떠올리는 사실의 비율"},
                          Measure::Must::at_least,
                          0.9},
      .full_seconds = 12,
      .quick_seconds = 2,
      .revision = 2,
      .units = [](const Lab&) { return std::vector<std::string>{"study"}; },
      .measure = measure,
      .numbers = numbers,
      .figures = figures,
      .tables = tables,
  };
}

}  // namespace limpid
