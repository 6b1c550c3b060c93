#include "inspect/fact_study_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "inspect/display_text.h"
#include "inspect/neurons.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kTokensShown = 4;

template <class List, class Value>
double mean(const List& list, Value value) {
  double sum = 0;
  for (const auto& one : list) sum += static_cast<double>(value(one));
  return list.empty() ? 0 : sum / static_cast<double>(list.size());
}

double share(const std::vector<FactEdit>& all, int64_t FactEdit::*part, int64_t FactEdit::*whole) {
  int64_t parts = 0, wholes = 0;
  for (const FactEdit& edit : all) parts += edit.*part, wholes += edit.*whole;
  return wholes == 0 ? 1 : static_cast<double>(parts) / static_cast<double>(wholes);
}

Json ablation_json(const Session& session, const Ablation& one) {
  Json neurons = Json::array();
  for (const FactNeuron& neuron : one.neurons)
    neurons.push_back({{"block", neuron.id.block},
                       {"neuron", neuron.id.neuron},
                       {"worth", neuron.worth},
                       {"elsewhere", neuron.elsewhere},
                       {"promotes", promoted_text(session, neuron.id)}});
  return {{"neurons", neurons},
          {"paraphrases", one.paraphrases},
          {"paraphrases_lost", one.paraphrases_lost},
          {"probability_before", one.probability_before},
          {"probability_after", one.probability_after},
          {"others_kept", one.others_kept}};
}

Json edit_json(const Session& session, const FactWorld& world, const FactEdit& one) {
  const Fact& fact = world.facts()[one.fact];
  return {{"subject", fact.subject},
          {"relation", fact.relation},
          {"before", session.piece(one.before)},
          {"after", session.piece(one.after)},
          {"columns", one.columns},
          {"relative_change", one.relative_change},
          {"took", one.took},
          {"paraphrases", one.paraphrases},
          {"paraphrases_changed", one.paraphrases_changed},
          {"held_out", one.held_out},
          {"held_out_changed", one.held_out_changed},
          {"others_same", one.others_same},
          {"same_subject", one.same_subject},
          {"same_relation_and_answer", one.same_relation_and_answer}};
}

// The fact that was looked at closely, and what one clean vector brings back of it: by tap, (layers, tokens).
Json traced_json(const FactWorld& world, const FactStudy& study) {
  const Fact& fact = world.facts()[study.fact];
  Json restored = Json::object();
  for (const TraceMap& map : study.trace.maps) {
    std::vector<std::vector<double>> layers(map.taps.size());
    for (size_t layer = 0; layer < layers.size(); ++layer)
      for (int64_t position = 0; position < study.trace.positions; ++position)
        layers[layer].push_back(study.trace.restored(map, static_cast<int64_t>(layer), position));
    restored[map.name] = layers;
  }
  return {{"subject", fact.subject}, {"relation", fact.relation},        {"object", fact.object},
          {"tokens", study.tokens},  {"probability", study.trace.clean}, {"corrupted", study.trace.corrupted},
          {"restored", restored}};
}

}  // namespace

AblationSummary::AblationSummary(const std::vector<Ablation>& all)
    : lost(mean(all, [](const Ablation& a) { return a.paraphrases_lost == a.paraphrases; })),
      neurons(mean(all, [](const Ablation& a) { return a.neurons.size(); })),
      others(mean(all, [](const Ablation& a) { return a.others_kept; })) {}

EditSummary::EditSummary(const std::vector<FactEdit>& all)
    : took(mean(all, [](const FactEdit& e) { return e.took; })),
      paraphrases(share(all, &FactEdit::paraphrases_changed, &FactEdit::paraphrases)),
      held_out(share(all, &FactEdit::held_out_changed, &FactEdit::held_out)),
      others(mean(all, [](const FactEdit& e) { return e.others_same; })),
      subject(mean(all, [](const FactEdit& e) { return e.same_subject; })),
      alike(mean(all, [](const FactEdit& e) { return e.same_relation_and_answer; })),
      change(mean(all, [](const FactEdit& e) { return e.relative_change; })) {
  for (const FactEdit& edit : all) least = std::min(least, edit.others_same);
}

std::string promoted_text(const Session& session, const NeuronId& id) {
  std::string text;
  for (const WeightedToken& token : NeuronReader(session.model(), "", id.block).read(id.neuron, kTokensShown).promoted)
    text += (text.empty() ? "" : " ") + visible(session.piece(token.id));
  return text;
}

Json fact_study_json(const Session& session, const FactWorld& world, const FactStudy& study) {
  Json traces = Json::array(), edits = Json::array();
  for (const MeanTrace& mean : study.mean_trace)
    traces.push_back({{"name", mean.name},
                      {"first_subject", mean.first_subject},
                      {"last_subject", mean.last_subject},
                      {"between", mean.between},
                      {"last", mean.last}});
  for (const FactEdit& edit : study.edits) edits.push_back(edit_json(session, world, edit));
  const AblationSummary ablation(study.ablations);
  const EditSummary edit(study.edits);
  return {{"facts", study.facts},
          {"recall",
           {{"facts", study.recall_facts}, {"trained", study.recall_trained}, {"held_out", study.recall_held_out}}},
          {"fact", traced_json(world, study)},
          {"trace", traces},
          {"ablation", ablation_json(session, study.ablation)},
          {"ablations",
           {{"count", study.ablations.size()},
            {"lost", ablation.lost},
            {"neurons", ablation.neurons},
            {"others_kept", ablation.others}}},
          {"edit", edit_json(session, world, study.edit)},
          {"edits",
           {{"count", study.edits.size()},
            {"efficacy", edit.took},
            {"efficacy_all_paraphrases", edit.paraphrases},
            {"generalisation", edit.held_out},
            {"specificity", edit.others},
            {"worst_specificity", edit.least},
            {"same_subject", edit.subject},
            {"same_relation_and_answer", edit.alike}}},
          {"each_edit", edits}};
}

}  // namespace limpid
