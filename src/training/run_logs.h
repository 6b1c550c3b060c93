#pragma once
// What a run writes about itself as it goes: log.jsonl and TensorBoard's files.

#include <optional>
#include <string>
#include <vector>

#include "training/event_log.h"
#include "training/run_folder.h"
#include "training/tensorboard.h"
#include "training/trainer.h"
#include "training/update.h"

namespace limpid {

class RunLogs {
 public:
  // From the step the run goes on at, what was written after it is forgotten; none: anew.
  void open(const RunFolder& folder, std::optional<int64_t> step);

  void changed(int64_t step, const std::vector<std::string>& settings);
  void diverged(int64_t step, int64_t at, double rate_factor);  // at one step, gone back to another
  void step(const StepReport& report, const Update& update);
  void validation(const ValidationReport& report, const char* event);
  void sync() { log_->sync(); }

 private:
  std::optional<EventLog> log_;
  std::optional<TensorBoardWriter> tensorboard_;
};

}  // namespace limpid
