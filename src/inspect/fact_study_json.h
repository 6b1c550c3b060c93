#pragma once
// The study of facts in numbers: means over many facts, and everything as JSON.

#include <nlohmann/json_fwd.hpp>

#include "inspect/fact_study.h"

namespace limpid {

// Means over facts whose neurons were silenced.
struct AblationSummary {
  double lost = 0, neurons = 0, others = 0;
  explicit AblationSummary(const std::vector<Ablation>& all);
};

// Means over facts that were rewritten.
struct EditSummary {
  double took = 0, paraphrases = 0, held_out = 0, others = 0, least = 1, subject = 0, alike = 0, change = 0;
  explicit EditSummary(const std::vector<FactEdit>& all);
};

// The tokens that a neuron promotes, strongest first.
std::string promoted_text(const Session& session, const NeuronId& id);

nlohmann::ordered_json fact_study_json(const Session& session, const FactWorld& world, const FactStudy& study);

}  // namespace limpid
