#pragma once
// RunLog: what log.jsonl of a run says, as curves over the steps.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace limpid {

struct RunCurve {
  std::vector<double> steps, values;
};

struct RunLog {
  std::string name;
  std::map<std::string, RunCurve> curves;  // "loss", "learning_rate", …; of validations "valid/loss", "valid/bleu", …
  double step = 0, seconds = 0;            // of training so far
  bool finished = false;
};

// A folder that a run has written, or its log.jsonl; another file is an Error. A last line that is being written is
// left out.
RunLog read_run_log(const std::filesystem::path& run);

// The mean of every value and its neighbours, so that a noisy curve can be read; at most so many points.
RunCurve smoothed(const RunCurve& curve, size_t points);

}  // namespace limpid
