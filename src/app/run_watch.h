#pragma once
// A server beside a training run, on whose page the run can be watched.

#include <filesystem>
#include <memory>
#include <optional>

#include "app/command.h"

namespace limpid {

struct WatchOptions {
  bool watch = false;
  std::optional<int> port;  // none: 8080, or a free one where that is taken
};
inline void add_watch_options(CommandLine& line, WatchOptions& options) {
  line.add_flag("--watch", options.watch, "serve a page on which the run can be watched, and print its address");
  line.add_option("--port", options.port,
                  "of --watch (default: 8080, or a free one where that is taken; 0: a free one)")
      ->check(CLI::Range(0, 65535));
}

// A server on one run, from now until the end of this object. Says its address.
class RunWatch {
 public:
  RunWatch(const std::filesystem::path& folder, const WatchOptions& options);

 private:
  std::shared_ptr<void> server_;  // none: nobody watches
};

}  // namespace limpid
