#include "training/run_logs.h"

#include <cmath>

namespace limpid {

void RunLogs::open(const RunFolder& folder, std::optional<int64_t> step) {
  log_.reset();  // before its file is cut
  log_.emplace(folder.log(), step.value_or(-1));
  tensorboard_.emplace(folder.tensorboard(), step);
}

void RunLogs::changed(int64_t step, const std::vector<std::string>& settings) {
  log_->write({{"event", "changed"}, {"step", step}, {"settings", settings}});
}

void RunLogs::diverged(int64_t step, int64_t at, double rate_factor) {
  log_->write({{"event", "diverged"}, {"step", step}, {"at", at}, {"rate_factor", rate_factor}});
}

void RunLogs::step(const StepReport& report, const Update& update) {
  log_->write({{"event", "step"},
               {"step", report.step},
               {"epoch", report.epoch},
               {"loss", update.loss},
               {"learning_rate", update.rate},
               {"gradient_norm", update.norm},
               {"tokens", update.tokens},
               {"tokens_per_second", std::round(report.tokens_per_second)},
               {"seconds", report.seconds},
               {"steps", report.steps},
               {"seconds_left", std::round(report.seconds_left)}});
  tensorboard_->scalar("train/loss", report.step, update.loss);
  tensorboard_->scalar("train/lr", report.step, update.rate);
  if (update.norm > 0) tensorboard_->scalar("train/gradient_norm", report.step, update.norm);
}

void RunLogs::validation(const ValidationReport& report, const char* event) {
  nlohmann::ordered_json line = {
      {"event", event}, {"step", report.step}, {"epoch", report.epoch}, {"loss", report.loss}};
  const auto add = [&](const char* key, const std::optional<double>& value) {
    if (!value) return;
    line[key] = *value;
    tensorboard_->scalar(std::string("valid/") + key, report.step, *value);
  };
  add("loss", report.loss);
  add("bleu", report.bleu);
  add("chrf", report.chrf);
  add("exact", report.exact);
  line["best"] = report.best;
  for (const ShownTranslation& one : report.shown)
    line["samples"].push_back({{"source", one.source}, {"reference", one.reference}, {"written", one.written}});
  log_->write(line);
}

}  // namespace limpid
