#pragma once
// A training run that can be watched: it records what the page shows of it, and serves the page itself.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/command.h"
#include "training/trainer.h"

namespace limpid {

// Records attention and lens of a sentence at every validation (inspect/run_recording.h). A recording that cannot be
// written does not end a run.
std::function<void(const Model& model, const Dataset& dataset, int64_t step)> run_recorder(
    std::filesystem::path folder);

struct WatchOptions {
  bool watch = false;
  std::optional<int> port;  // none: 8080, or a free one where that is taken
};
void add_watch_options(CommandLine& line, WatchOptions& options);

// A server on one run, from now until the end of this object. Says its address.
class RunWatch {
 public:
  RunWatch(const std::filesystem::path& folder, const WatchOptions& options);
  ~RunWatch();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace limpid
