#include "server/laboratory.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "experiments/tasks.h"
#include "inspect/fact_study_json.h"
#include "inspect/induction.h"
#include "inspect/sae_dashboard.h"

namespace limpid {
namespace {

constexpr const char* kTap = "blocks.1.ffn_out";

void check_listening(bool listening) {
  if (!listening) fail(ErrorKind::cancelled, "[laboratory] nobody waits for it any more");
}

Json progress_json(double done, const std::string& what) { return {{"done", done}, {"what", what}}; }

void tell_progress(const LaboratoryEvents& tell, double done, const std::string& what) {
  check_listening(tell("progress", progress_json(done, what)));
}

}  // namespace

Json Laboratory::induction(JsonFields& fields, const LaboratoryEvents& tell) {
  InductionStudyOptions options;
  options.steps = fields.whole("steps", 600, 1, 2000);
  options.layers = {fields.whole("layers", 2, 1, 3)};
  options.heads = fields.whole("heads", 4, 1, 8);
  options.seed = static_cast<uint64_t>(fields.whole("seed", 1, 0, int64_t{1} << 40));
  fields.finish();
  if (options.width % options.heads != 0) JsonFields::refuse("heads", "\"heads\" must divide 64.");
  options.every = std::max<int64_t>(options.steps / 40, 1);
  options.longest = 24;  // shorter than the command's: someone waits
  size_t told = 0;
  const auto curves = study_induction(options, [&](int64_t done, const InductionCurve& so_far) {
    for (; told < so_far.points.size(); ++told) check_listening(tell("point", induction_json(so_far.points[told])));
    tell_progress(tell, static_cast<double>(done) / static_cast<double>(options.steps), "training");
    return true;
  });
  return induction_json(curves.at(0));
}

Json Laboratory::world() {
  const FactWorld world;
  std::map<std::string, std::set<std::string>> objects;
  Json facts = Json::array();
  std::set<size_t> said;  // the first paraphrase of a fact stands for it
  for (const FactSentence& sentence : world.sentences()) {
    if (!said.insert(sentence.fact).second) continue;
    const Fact& fact = world.facts()[sentence.fact];
    objects[fact.relation].insert(fact.object);
    facts.push_back(
        {{"prompt", sentence.prompt}, {"relation", fact.relation}, {"object", fact.object}, {"real", fact.real}});
  }
  return {{"facts", facts}, {"objects", objects}};
}

Lab Laboratory::lab(const LaboratoryEvents& tell) const {
  return Lab({.folder = folder_->path(), .size = size_, .progress = [&tell](double done, const std::string& what) {
                return tell("progress", progress_json(done, what));
              }});
}

std::unique_lock<std::timed_mutex> Laboratory::alone(const LaboratoryEvents& tell) {
  std::unique_lock lock(mutex_, std::defer_lock);
  while (!lock.try_lock_for(std::chrono::milliseconds(200))) tell_progress(tell, 0, "waiting for another study");
  return lock;
}

const Session& Laboratory::model(const LaboratoryEvents& tell) {
  if (!session_) {
    if (!folder_) folder_.emplace();
    Lab training = lab(tell);
    session_ = open_session(train_facts(training).folder);
  }
  return *session_;
}

Json Laboratory::facts(JsonFields& fields, const LaboratoryEvents& tell) {
  FactStudyOptions options{.traced = 0, .compared = 100, .ablated = 0, .edited = 0};
  options.fact = fields.text("fact", options.fact);
  options.new_object = fields.text("to");
  fields.finish();
  const auto lock = alone(tell);
  const Session& session = model(tell);
  const FactWorld world;
  const FactStudy study = study_facts(session, world, options,
                                      [&](double share, const std::string& what) { tell_progress(tell, share, what); });
  return fact_study_json(session, world, study);
}

Json Laboratory::features(JsonFields& fields, const LaboratoryEvents& tell) {
  const int64_t steps = fields.whole("steps", 600, 1, 5000);
  const int64_t k = fields.whole("k", 4, 1, 32);
  const int64_t expansion = fields.whole("expansion", 4, 1, 16);
  DashboardOptions shown{.count = fields.whole("count", 12, 1, 100), .texts = 4, .tokens = 5};
  fields.finish();
  const auto lock = alone(tell);
  const Session& session = model(tell);
  const CorpusOptions corpus{.files = {(lab(tell).corpus(facts_corpus(lab(tell))) / "known.txt").string()}};
  const ActivationBufferOptions vectors{.tap = kTap, .rows = 20000};
  ActivationBuffer buffer(session, corpus, vectors);
  LoadedSae sae = make_sae(
      {.kind = SaeKind::topk, .inputs = buffer.width(), .features = expansion * buffer.width(), .k = k, .tap = kTap});
  train_sae(
      sae, {.steps = steps, .batch = 512}, [&](Matrix rows) { buffer.draw(rows); },
      [&](const SaeStep& step) {
        tell_progress(tell, static_cast<double>(step.step) / static_cast<double>(steps),
                      fmt::format("features, error {:.3f}", step.loss));
        return true;
      });
  const SaeScore score = score_sae(session, *sae.sae, corpus, vectors, 8000);
  for (const double density : score.density)
    sae.log_density.push_back(static_cast<real>(std::log10(std::max(density, 1e-10))));
  Json boards = Json::array();
  for (const FeatureDashboard& board : feature_dashboards(
           session, sae, corpus, shown, [&](double share) { tell_progress(tell, share, "reading texts"); }))
    boards.push_back(dashboard_json(session, board));
  return {{"tap", kTap},
          {"dimensions", buffer.width()},
          {"features", expansion * buffer.width()},
          {"firing", static_cast<double>(expansion * buffer.width()) * (1 - score.dead_share)},
          {"active", score.active},
          {"explained", score.explained_variance},
          {"loss", score.loss},
          {"loss_spliced", score.loss_spliced},
          {"loss_zeroed", score.loss_zeroed},
          {"boards", boards}};
}

}  // namespace limpid
