#pragma once
// The whole study of one model of the world of facts: what it knows, where one fact is stored, what happens when those
// neurons are silenced, and whether facts can be rewritten without harm to others.

#include <functional>

#include "inspect/fact_edit.h"
#include "inspect/fact_neurons.h"
#include "inspect/trace.h"

namespace limpid {

struct FactStudyOptions {
  uint64_t world = 1;                                                 // seed of the world
  std::string fact = "Michael Jordan plays the sport of basketball";  // looked at closely
  std::string new_object = {};                                        // what it is rewritten to; empty: drawn
  int64_t traced = 20;                                                // facts whose traces are averaged
  int64_t compared = 200;                                             // prompts that say what a neuron does elsewhere
  int64_t ablated = 20;                                               // facts that are ablated besides
  int64_t edited = 50;                                                // facts that are rewritten besides, one at a time
  size_t most_neurons = 64;                                           // silenced for one fact
  FactEditOptions edit = {};
  uint64_t seed = 1;  // of the samples
};

// Mean share of what was lost that one vector gives back, by layer (Trace::restored).
struct MeanTrace {
  std::string name;                                                // "resid_post", "attn_out", "ffn_out"
  std::vector<double> first_subject, last_subject, between, last;  // token of the subject; behind it; the prompt's last
};

struct FactStudy {
  int64_t facts = 0;
  double recall_trained = 0, recall_held_out = 0;  // of all sentences trained, and of those never trained
  double recall_facts = 0;                         // of all facts, in their first paraphrase
  size_t fact = 0;
  Trace trace;                      // of the fact's own sentence
  std::vector<std::string> tokens;  // its words
  std::vector<MeanTrace> mean_trace;
  Ablation ablation;                // of the fact
  std::vector<Ablation> ablations;  // of the sample
  FactEdit edit;
  std::vector<FactEdit> edits;
};

using StudyProgress = std::function<void(double share, const std::string& what)>;
FactStudy study_facts(const Session& session, const FactWorld& world, const FactStudyOptions& options,
                      const StudyProgress& progress = {});

}  // namespace limpid
