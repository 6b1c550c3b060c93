#pragma once
// What a person sees of a training run: what was found in the data, a line of progress, validations with translations.

#include <chrono>
#include <string>

#include "app/progress.h"
#include "training/trainer.h"

namespace limpid {

class TrainingDisplay : public TrainingObserver {
 public:
  enum class Detail { nothing, quiet, normal };  // quiet: only what the user should know
  explicit TrainingDisplay(Detail detail);
  ~TrainingDisplay() override;

  void preparing(const std::string& what, double done) override;
  void starting(const Dataset& dataset, const Config& config, int64_t parameters, int64_t resumed_step) override;
  void step(const StepReport& report) override;
  void validation(const ValidationReport& report) override;
  void note(const std::string& text) override;
  void clear();  // takes the progress line off the screen

 private:
  bool draws_now();

  bool silent_, quiet_, terminal_;
  std::chrono::steady_clock::time_point drawn_;
  std::string preparing_;
  bool on_screen_ = false;
};

// "loss 1.234 (perplexity 3.4), BLEU 38.2, chrF 61.0, exact 81.2 %".
std::string describe(const ValidationReport& report);

// What a run came to, as JSON.
nlohmann::ordered_json to_json(const TrainingResult& result, const std::string& folder);

}  // namespace limpid
