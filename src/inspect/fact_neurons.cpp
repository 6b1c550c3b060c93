#include "inspect/fact_neurons.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "base/error.h"
#include "inspect/gradient.h"

namespace limpid {
namespace {

// The likeliest word besides the right one, by prompt.
std::vector<int32_t> best_others(const Session& session, const FactPrompts& prompts, std::span<const size_t> which) {
  std::vector<int32_t> rivals;
  for (size_t prompt : which) {
    const Tensor logits = forward_logits(session.model(), prompts.example(prompt), nullptr);
    const real* row = logits.values().row(logits.rows() - 1);
    const int32_t answer = prompts.all()[prompt].answer;
    int32_t best = answer == 0 ? 1 : 0;
    for (int32_t i = 0; i < logits.cols(); ++i)
      if (i != answer && row[i] > row[best]) best = i;
    rivals.push_back(best);
  }
  return rivals;
}

}  // namespace

std::vector<double> neuron_worth(const Session& session, const FactPrompts& prompts, std::span<const size_t> which) {
  const Config& config = session.config();
  check(config.feed_forward, "[facts] this model has no feed-forward networks, so no neurons");
  const int64_t blocks = config.decoder.layers;
  std::vector<std::string> taps;
  for (int64_t block = 0; block < blocks; ++block) taps.push_back(fmt::format("blocks.{}.ffn.post", block));
  std::vector<double> worth;
  const std::vector<int32_t> rivals = best_others(session, prompts, which);
  for (size_t i = 0; i < which.size(); ++i) {
    const TapGradients all = tap_gradients(session.model(), prompts.example(which[i]),
                                           {.kind = Objective::Kind::difference,
                                            .position = -1,
                                            .token = prompts.all()[which[i]].answer,
                                            .against = rivals[i]},
                                           taps);
    size_t at = 0;
    for (const std::string& name : taps) {
      const TapGradient& tap = all.taps.at(name);
      worth.resize(std::max(worth.size(), at + static_cast<size_t>(tap.values.cols)));
      for (int64_t position = 0; position < tap.values.positions; ++position)
        for (int64_t j = 0; j < tap.values.cols; ++j)
          worth[at + static_cast<size_t>(j)] += static_cast<double>(tap.values.row(position)[j]) *
                                                static_cast<double>(tap.gradient.row(position)[j]) /
                                                static_cast<double>(which.size());
      at += static_cast<size_t>(tap.values.cols);
    }
  }
  return worth;
}

std::vector<FactNeuron> rank_neurons(const std::vector<double>& worth, const std::vector<double>& elsewhere,
                                     int64_t neurons_per_block) {
  std::vector<FactNeuron> neurons;
  for (size_t i = 0; i < worth.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    neurons.push_back({{at / neurons_per_block, at % neurons_per_block}, worth[i], elsewhere[i]});
  }
  const auto score = [](const FactNeuron& neuron) { return neuron.worth - neuron.elsewhere; };
  std::stable_sort(neurons.begin(), neurons.end(),
                   [&](const FactNeuron& a, const FactNeuron& b) { return score(a) > score(b); });
  return neurons;
}

SilentNeurons::SilentNeurons(const std::vector<NeuronId>& neurons) {
  for (const NeuronId& id : neurons) neurons_[fmt::format("blocks.{}.ffn.post", id.block)].push_back(id.neuron);
}

bool SilentNeurons::wants(std::string_view name) const { return neurons_.find(name) != neurons_.end(); }

Tensor SilentNeurons::visit(const Tap& tap) {
  Run run({});
  Tensor value = constant(run, tap.value.values());
  for (int64_t i = 0; i < value.rows(); ++i)
    for (int64_t neuron : neurons_.find(tap.name)->second) value.values()(i, neuron) = 0;
  return value;
}

Ablation ablate_fact(const FactPrompts& prompts, size_t fact, std::span<const size_t> paraphrases,
                     const std::vector<FactNeuron>& ranked, size_t most) {
  Ablation result{.paraphrases = static_cast<int64_t>(paraphrases.size())};
  const auto mean_probability = [&](const std::vector<FactAnswer>& answers) {
    double sum = 0;
    for (const FactAnswer& answer : answers) sum += std::exp(answer.log_probability);
    return sum / static_cast<double>(answers.size());
  };
  result.probability_before = mean_probability(prompts.ask(paraphrases));
  std::vector<NeuronId> silent;
  for (size_t count = 1; count <= std::min(most, ranked.size()) && result.paraphrases_lost < result.paraphrases;
       ++count) {
    result.neurons.push_back(ranked[count - 1]);
    silent.push_back(ranked[count - 1].id);
    SilentNeurons probe(silent);
    const std::vector<FactAnswer> answers = prompts.ask(paraphrases, &probe);
    result.probability_after = mean_probability(answers);
    result.paraphrases_lost = 0;
    for (size_t i = 0; i < paraphrases.size(); ++i)
      result.paraphrases_lost += answers[i].said != prompts.all()[paraphrases[i]].answer;
  }
  SilentNeurons probe(silent);
  const std::vector<size_t> all = prompts.first_paraphrases();
  const std::vector<FactAnswer> before = prompts.ask(all), after = prompts.ask(all, &probe);
  int64_t known = 0, kept = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const FactPrompt& prompt = prompts.all()[all[i]];
    if (prompt.fact == fact || before[i].said != prompt.answer) continue;
    ++known;
    kept += after[i].said == prompt.answer;
  }
  result.others_kept = known == 0 ? 0 : static_cast<double>(kept) / static_cast<double>(known);
  return result;
}

}  // namespace limpid
