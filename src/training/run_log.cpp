#include "training/run_log.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "text/line_reader.h"
#include "training/event_log.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

void add(RunLog& log, const std::string& name, const nlohmann::json& event, const char* key) {
  const auto value = event.find(key);
  if (value == event.end() || !value->is_number()) return;
  RunCurve& curve = log.curves[name];
  curve.steps.push_back(event.value("step", 0.0));
  curve.values.push_back(value->get<double>());
}

void take(RunLog& log, const nlohmann::json& event) {
  const std::string kind = event.value("event", "");
  if (kind == "step" || kind == "validation") log.step = event.value("step", log.step);
  if (kind == "step") {
    for (const char* key : {"loss", "learning_rate", "gradient_norm", "tokens_per_second"}) add(log, key, event, key);
    log.seconds = event.value("seconds", log.seconds);
    log.finished = false;
  } else if (kind == "validation") {
    for (const char* key : {"loss", "bleu", "chrf", "exact"}) add(log, std::string("valid/") + key, event, key);
  } else if (kind == "finished") {
    log.finished = true;
  }
}

}  // namespace

RunLog read_run_log(const fs::path& run) {
  std::error_code none;
  const fs::path file = fs::is_directory(run, none) ? run / "log.jsonl" : run;
  check(fs::exists(file, none), "[log] {}: holds no log.jsonl: name the folder of a training run", run);
  RunLog log;
  log.name = run.filename().empty() ? run.parent_path().filename().string() : run.filename().string();
  LineReader reader(file);
  bool any = fs::is_directory(run, none);  // a run that has just begun has written nothing yet
  while (const auto line = reader.next()) {
    const nlohmann::json event = event_of_line(*line);
    try {
      take(log, event);
    } catch (const nlohmann::json::exception& error) {
      fail("[log] {}: a line is no event of a training run ({})", file.string(), json_reason(error));
    }
    any = any || event.contains("event");
  }
  check(any, "[log] {}: is no log of a training run: name the run's folder", run);
  return log;
}

RunCurve smoothed(const RunCurve& curve, size_t points) {
  if (points == 0 || curve.values.size() <= points) return curve;
  RunCurve result;
  for (size_t i = 0; i < points; ++i) {
    const size_t begin = i * curve.values.size() / points, end = (i + 1) * curve.values.size() / points;
    double step = 0, value = 0;
    for (size_t at = begin; at < end; ++at) step += curve.steps[at], value += curve.values[at];
    const auto count = static_cast<double>(end - begin);
    result.steps.push_back(step / count);
    result.values.push_back(value / count);
  }
  return result;
}

}  // namespace limpid
