#pragma once
// A training run as its folder shows it to another process: state, recipe, log, what it recorded. Reads only.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace limpid {

class WatchedRun {
 public:
  // `model`: the id under which its model is served; empty: it is not.
  WatchedRun(std::string id, std::filesystem::path folder, std::string model = "")
      : id_(std::move(id)), folder_(std::move(folder)), model_(std::move(model)) {}

  const std::string& id() const { return id_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path log() const { return folder_ / "log.jsonl"; }

  bool running() const;       // some process works in it now
  std::string state() const;  // "running", "finished", "stopped", "empty"
  nlohmann::ordered_json summary() const;
  nlohmann::ordered_json details() const;  // with recipe and training.json
  nlohmann::ordered_json samples() const;
  // Lines of the log after the first `after`, with their numbers ("line"); at most `thin` of event "step", evenly
  // chosen (0: all).
  nlohmann::ordered_json events(int64_t after, int64_t thin) const;
  nlohmann::ordered_json recorded() const;
  std::string recording(int64_t step) const;  // the bytes of a safetensors file; throws 404

 private:
  std::string id_;
  std::filesystem::path folder_;
  std::string model_;
};

class WatchedRuns {
 public:
  // Its name is the run's id, with a number behind it where that is taken.
  void add(const std::filesystem::path& folder, const std::string& model = "");
  void add_all_in(const std::filesystem::path& folder);  // its run folders
  const WatchedRun& find(const std::string& id) const;   // throws 404
  const std::vector<WatchedRun>& all() const { return runs_; }

 private:
  std::vector<WatchedRun> runs_;
};

// The whole lines of a file from byte `offset` on, which is moved behind them; a last line without its end waits. Where
// the file is shorter than `offset` it was begun anew: nothing is read and offset is -1.
std::vector<std::string> new_lines(const std::filesystem::path& file, int64_t& offset);

// The last whole line of a file, of which no more than its end is read; empty where there is none.
std::string last_line(const std::filesystem::path& file);

}  // namespace limpid
