#include "training/run_record.h"

#include "base/file.h"
#include "base/json.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kTrainingFile = "training.json";

Json json_of(const FinishedRun& run) {
  Json json = {{"steps", run.steps},
               {"why", run.why},
               {"step", run.final.step},
               {"epoch", run.final.epoch},
               {"loss", run.final.loss}};
  const auto add = [&](const char* key, const std::optional<double>& value) {
    if (value) json[key] = *value;
  };
  add("bleu", run.final.bleu);
  add("chrf", run.final.chrf);
  add("exact", run.final.exact);
  return json;
}

FinishedRun finished_from(const nlohmann::json& json) {
  FinishedRun run{.steps = json.at("steps"), .why = json.at("why")};
  run.final.step = json.at("step");
  run.final.epoch = json.at("epoch");
  run.final.loss = json.at("loss");
  const auto take = [&](const char* key, std::optional<double>& value) {
    if (json.contains(key)) value = json.at(key).get<double>();
  };
  take("bleu", run.final.bleu);
  take("chrf", run.final.chrf);
  take("exact", run.final.exact);
  return run;
}

}  // namespace

void write_run_record(const fs::path& folder, const RunRecord& record) {
  Json json = {{"command", record.command},
               {"version", LIMPID_VERSION},
               {"seed", record.seed},
               {"dataset", record.dataset.json()}};
  if (record.finished) json["finished"] = json_of(*record.finished);
  write_text(folder / kTrainingFile, json.dump(2) + "\n");
}

std::optional<FinishedRun> read_finished(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / kTrainingFile, ignored)) return std::nullopt;
  const nlohmann::json json = read_json(folder / kTrainingFile);
  if (!json.is_object() || !json.contains("finished")) return std::nullopt;
  try {
    return finished_from(json.at("finished"));
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // then the end is made again from the last checkpoint
  }
}

}  // namespace limpid
