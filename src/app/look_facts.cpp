// limpid look … facts: where a model of the world of facts keeps them, and what silencing and rewriting does.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/look.h"
#include "app/progress.h"
#include "inspect/display_text.h"
#include "inspect/fact_study_json.h"

namespace limpid {
namespace {

constexpr size_t kNeuronsShown = 8;

std::string where_text(const FactStudy& study, const FactStudyOptions& options) {
  std::string text = fmt::format(
      "\nWhere: share of the answer that one clean vector brings back (mean of {} facts)\n"
      "  {:14} {:>12} {:>12} {:>12} {:>12}\n",
      options.traced, "", "first name", "last name", "between", "last word");
  for (const MeanTrace& mean : study.mean_trace)
    for (size_t layer = 0; layer < mean.last.size(); ++layer)
      text += fmt::format("  {:14} {:12.2f} {:12.2f} {:12.2f} {:12.2f}\n", fmt::format("{} {}", layer, mean.name),
                          mean.first_subject[layer], mean.last_subject[layer], mean.between[layer], mean.last[layer]);
  return text;
}

std::string ablation_text(const Session& session, const FactStudy& study) {
  const Ablation& one = study.ablation;
  std::string text = fmt::format(
      "\nSilencing {} neurons of {} blocks: lost in {} of {} paraphrases (probability {:.3f} → {:.3f}); "
      "others kept {:.2f} %\n  {:>5} {:>7} {:>14} {:>11}   {}\n",
      one.neurons.size(), session.config().decoder.layers, one.paraphrases_lost, one.paraphrases,
      one.probability_before, one.probability_after, 100 * one.others_kept, "block", "neuron", "worth (nats)",
      "elsewhere", "promotes");
  for (size_t i = 0; i < std::min(kNeuronsShown, one.neurons.size()); ++i) {
    const FactNeuron& neuron = one.neurons[i];
    text += fmt::format("  {:5} {:7} {:14.3f} {:11.3f}   {}\n", neuron.id.block, neuron.id.neuron, neuron.worth,
                        neuron.elsewhere, promoted_text(session, neuron.id));
  }
  if (one.neurons.size() > kNeuronsShown) text += fmt::format("  … and {} more\n", one.neurons.size() - kNeuronsShown);
  const AblationSummary all(study.ablations);
  return text + fmt::format(
                    "  the same for {} random facts: lost in every paraphrase {:.1f} %, neurons {:.1f}, others kept "
                    "{:.2f} %\n",
                    study.ablations.size(), 100 * all.lost, all.neurons, 100 * all.others);
}

std::string edit_text(const Session& session, const FactStudy& study) {
  const FactEdit& one = study.edit;
  const EditSummary all(study.edits);
  std::string text = fmt::format(
      "\nRewriting \"{}\" to \"{}\" by {} columns of one down-projection (|Δ|/|W| {:.3f}):\n"
      "  predicted in {} of {} trained paraphrases, {} of {} others; other facts unchanged {:.2f} %\n",
      visible(session.piece(one.before)), visible(session.piece(one.after)), one.columns.size(), one.relative_change,
      one.paraphrases_changed, one.paraphrases, one.held_out_changed, one.held_out, 100 * one.others_same);
  text += fmt::format("\nRewriting {} random facts, one at a time\n", study.edits.size());
  const auto line = [&](const char* what, double value) {
    text += fmt::format("  {:58} {:7.2f} %\n", what, 100 * value);
  };
  line("efficacy: the new word is predicted (first paraphrase)", all.took);
  line("efficacy in all trained paraphrases", all.paraphrases);
  line("generalisation: paraphrases that were never trained", all.held_out);
  line("specificity: all other facts unchanged (mean)", all.others);
  line("  the worst of these edits", all.least);
  line("  other facts about the same subject", all.subject);
  line("  facts of the same relation with the same old answer", all.alike);
  return text;
}

void show_facts(const LookOptions& options, const FactStudyOptions& study_options) {
  const Session session = open_model(options);
  const FactWorld world({.seed = study_options.world});
  constexpr int64_t kSteps = 1000;
  Progress progress(kSteps, options.json);
  const FactStudy study = study_facts(session, world, study_options, [&](double share, const std::string& what) {
    progress.update(static_cast<int64_t>(kSteps * share), what);
  });
  progress.clear();
  if (options.json) return write_json(fact_study_json(session, world, study));
  const Fact& fact = world.facts()[study.fact];
  fmt::print(
      "{} facts; recall {:.2f} % (trained sentences {:.2f} %, other paraphrases {:.2f} %)\n"
      "\n\"{}\" · {} · \"{}\": probability {:.3f}, with noise on the subject {:.3f}\n",
      study.facts, 100 * study.recall_facts, 100 * study.recall_trained, 100 * study.recall_held_out, fact.subject,
      fact.relation, fact.object, study.trace.clean, study.trace.corrupted);
  fmt::print("{}{}{}", where_text(study, study_options), ablation_text(session, study), edit_text(session, study));
}

}  // namespace

LookPart add_look_facts(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "facts", "Where a model of the world of facts (recipes/facts.toml) keeps them: locates, silences and rewrites.");
  auto study = std::make_shared<FactStudyOptions>();
  part->add_option("FACT", study->fact, "a sentence of that world")->capture_default_str();
  part->add_option("--to", study->new_object, "what this fact is rewritten to (default: drawn)");
  part->add_option("--world", study->world, "seed of the world (limpid data facts --seed)")->capture_default_str();
  part->add_option("--traces", study->traced, "facts whose traces are averaged")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  part->add_option("--ablations", study->ablated, "random facts whose neurons are silenced")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  part->add_option("--edits", study->edited, "random facts that are rewritten, one at a time")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  part->add_option("--block", study->edit.block, "whose down-projection is edited (-1: the last)")
      ->capture_default_str();
  part->add_option("--columns", study->edit.columns, "of it that are changed (0: all)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  part->add_option("--margin", study->edit.margin, "by which the new word is to win, in nats")->capture_default_str();
  part->add_option("--seed", study->seed, "of the samples")->capture_default_str();
  part->add_flag("--json", options.json, "print JSON, one object per line");
  return {part, [&options, study] { show_facts(options, *study); }};
}

}  // namespace limpid
