#pragma once
// The trainer: from a recipe to a model folder, in steps that can be interrupted anywhere and go on as if they had not
// been. It prints nothing; an observer hears what happens.

#include <optional>

#include "cluster/courier.h"
#include "cluster/same_on_all.h"
#include "models/model.h"
#include "training/dataset.h"
#include "training/run_folder.h"
#include "training/update_timing.h"

namespace limpid {

struct StepReport {
  int64_t step = 0, steps = 0;  // updates done and expected; expected 0: unknown
  int64_t epoch = 0;
  double loss = 0;  // nats per token, smoothed labels included, mean of the last updates
  double learning_rate = 0;
  double gradient_norm = 0;              // 0: nobody clips
  double tokens_per_second = 0;          // to be predicted
  double seconds = 0, seconds_left = 0;  // of the whole run, interruptions left out; left 0: unknown
};

struct ShownTranslation {
  std::string source, reference, written;
};

struct ValidationReport {
  int64_t step = 0, epoch = 0;
  double loss = 0;                          // nats per token
  std::optional<double> bleu, chrf, exact;  // exact: share of examples that are right, 0 … 100
  std::vector<ShownTranslation> shown;
  bool best = false;
};

class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void preparing(const std::string& what, double done) = 0;
  virtual void starting(const Dataset& dataset, const Config& config, int64_t parameters, int64_t resumed_step) = 0;
  virtual void step(const StepReport& report) = 0;
  virtual void validation(const ValidationReport& report) = 0;
  virtual void note(const std::string& text) = 0;  // something the user should know
};

struct TrainingOptions {
  std::string command;       // as given, for the record
  NamedFacts program = {};   // what it was made from: the same on all ranks
  Courier* ranks = nullptr;  // the processes that share the work of this run; none: this one alone
  std::function<bool()> interrupted = [] { return false; };  // asked after every update: save and return
  std::function<void(const UpdateTiming&)> timed = {};       // told after every update
  // Shown the model at every validation, as it is validated; must not change it.
  std::function<void(const Model& model, const Dataset& dataset, int64_t step)> validated = {};
  // Asked before a run goes on with other settings that change its result than it had, each as "key old → new".
  std::function<bool(const std::vector<std::string>& changes)> accept_changes = [](const auto&) { return false; };
};

struct TrainingResult {
  bool interrupted = false;
  bool was_finished = false;  // before: nothing has been done or changed
  std::string why;            // it ended: "8000 steps", "no better score in 10 validations", …
  int64_t steps = 0;
  double seconds = 0;
  int64_t best_step = 0;
  double best = 0;         // by the recipe's metric
  ValidationReport final;  // of the model that was written
};

// With several ranks all call it with the same recipe; rank 0 alone writes, and the others get its folder by
// RunFolder::of_other_process. All get the same result. An Error where ranks differ in what decides the result.
//
// Trains in the folder, going on from its last checkpoint if it has one. The last step of a run is a checkpoint too: a
// later end trains on from there, with the bits of a run that had that end from the start (where the schedule does not
// depend on it). A model without the checkpoints it came from is never written over: an Error.
TrainingResult train(const Recipe& recipe, RunFolder& folder, TrainingObserver& observer,
                     const TrainingOptions& options = {});

}  // namespace limpid
