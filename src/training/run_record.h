#pragma once
// training.json: where the model in a run's folder came from, and whether the run is finished.

#include <filesystem>
#include <optional>
#include <string>

#include "training/dataset_record.h"
#include "training/trainer.h"

namespace limpid {

// How a run ended; the model of that moment is the folder's.
struct FinishedRun {
  int64_t steps = 0;
  std::string why;
  ValidationReport final;  // without translations to show
};

struct RunRecord {
  std::string command;  // the last one
  uint64_t seed = 0;
  DatasetRecord dataset;
  std::optional<FinishedRun> finished;
};

void write_run_record(const std::filesystem::path& folder, const RunRecord& record);

// How the run in the folder ended; nothing if it has not, or nobody knows.
std::optional<FinishedRun> read_finished(const std::filesystem::path& folder);

}  // namespace limpid
