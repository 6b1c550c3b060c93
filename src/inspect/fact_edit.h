#pragma once
// Facts rewritten by a change to columns of one down-projection, in closed form (after Meng et al. 2022 and 2023: ROME
// and MEMIT). A network is a memory: the activations of its neurons at the position of the answer are a key k, what
// the down-projection W writes for it a value. For every trained paraphrase of the fact:
//
// 1. δ, the smallest change of the written vector after which the new word wins by a margin: steps along the gradient
//    of (its logit - the best other logit) by the vector;
// 2. W + Δ with Δ·k = δ for these keys and, among all such Δ, the least change of what is written for the keys of the
//    whole world: Δ = D·(KᵀC⁻¹K)⁻¹·KᵀC⁻¹, where C is the mean of k·kᵀ over all facts and K, D hold keys and changes.
//
// Only the columns of the neurons that matter most for the fact are changed: C and K are cut to those.

#include <memory>
#include <vector>

#include "inspect/fact_prompts.h"
#include "inspect/weight_edit.h"

namespace limpid {

struct FactEditOptions {
  int64_t block = -1;           // whose down-projection; -1: the last
  int64_t columns = 128;        // changed at most; 0: all
  double margin = 4;            // by which the new word's logit wins, in nats
  double ridge = 1e-3;          // of C's mean diagonal, added to its diagonal
  uint64_t random_columns = 0;  // a seed: columns are drawn instead of chosen, to compare with
};

struct FactEdit {
  size_t fact = 0;
  int32_t before = 0, after = 0;                     // the tokens
  std::vector<int64_t> columns;                      // changed
  double relative_change = 0;                        // |Δ| / |W|
  bool took = false;                                 // the new word is predicted for the first paraphrase
  int64_t paraphrases = 0, paraphrases_changed = 0;  // trained paraphrases that end in the new word
  int64_t held_out = 0, held_out_changed = 0;        // and those that were never trained
  double others_same = 0;                            // share of all other facts' answers that are the same as before
  double same_subject = 0;                           // of the other facts about the same subject; 1 where there is none
  double same_relation_and_answer = 0;               // of the facts of the same relation with the same old answer
};

class FactEditor {
 public:
  // Reads the keys of all prompts once.
  FactEditor(const Session& session, const FactWorld& world, const FactPrompts& prompts,
             const FactEditOptions& options);

  // Measures a model of the session's weights with the change.
  FactEdit edit(size_t fact, int32_t new_answer) const;

 private:
  struct Change {
    std::vector<std::vector<double>> keys, values;  // by paraphrase: k, δ
  };
  Change wanted_change(const std::vector<size_t>& paraphrases, int32_t new_answer) const;
  std::vector<double> value_change(size_t prompt, int32_t new_answer) const;
  std::vector<int64_t> choose_columns(size_t fact, const std::vector<std::vector<double>>& keys) const;
  double write(const Change& change, const std::vector<int64_t>& columns, Matrix w) const;
  void measure(const Model& edited, FactEdit& edit) const;

  const Session& session_;
  const FactWorld& world_;
  const FactPrompts& prompts_;
  FactEditOptions options_;
  std::string value_tap_;
  std::string weight_;  // its name
  bool turned_;         // stored as (inputs, outputs)
  int64_t neurons_ = 0;
  std::vector<std::vector<double>> keys_;  // by prompt
  std::vector<double> covariance_;         // (neurons, neurons)
  std::vector<size_t> first_paraphrases_;
  std::vector<FactAnswer> before_;  // to the first paraphrases
};

}  // namespace limpid
