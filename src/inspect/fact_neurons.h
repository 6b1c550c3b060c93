#pragma once
// Where a fact is stored: the neurons of the feed-forward networks that its answer rests on. Each neuron's part is the
// gradient of the answer's lead (its logit less the best other one) times the neuron's activation, summed over
// positions and averaged over the paraphrases of the fact: what the lead would lose, to first order, if the neuron were
// silent. The same number for other facts says how much the neuron is needed elsewhere.

#include <map>
#include <string>
#include <vector>

#include "inspect/fact_prompts.h"

namespace limpid {

struct NeuronId {
  int64_t block = 0, neuron = 0;
  bool operator==(const NeuronId&) const = default;
};

struct FactNeuron {
  NeuronId id;
  double worth = 0;      // for this fact, in nats
  double elsewhere = 0;  // the mean of its worth for other facts, where that is positive
};

// Worth of every neuron for some prompts: the mean over them, blocks end to end.
std::vector<double> neuron_worth(const Session& session, const FactPrompts& prompts, std::span<const size_t> which);

// All neurons, those first that the fact needs most and others least.
std::vector<FactNeuron> rank_neurons(const std::vector<double>& worth, const std::vector<double>& elsewhere,
                                     int64_t neurons_per_block);

// A probe that silences neurons at every position of every text.
class SilentNeurons : public Probe {
 public:
  explicit SilentNeurons(const std::vector<NeuronId>& neurons);
  bool wants(std::string_view name) const override;
  Tensor visit(const Tap& tap) override;

 private:
  std::map<std::string, std::vector<int64_t>, std::less<>> neurons_;  // by tap
};

struct Ablation {
  std::vector<FactNeuron> neurons;
  int64_t paraphrases = 0, paraphrases_lost = 0;  // of this fact
  double others_kept = 0;                         // share of the other facts that were answered rightly and still are
  double probability_before = 0, probability_after = 0;  // of the answer, mean over the paraphrases
};

// Silences the ranked neurons, more and more, until the fact is lost in all these paraphrases; at most `most`.
Ablation ablate_fact(const FactPrompts& prompts, size_t fact, std::span<const size_t> paraphrases,
                     const std::vector<FactNeuron>& ranked, size_t most);

}  // namespace limpid
