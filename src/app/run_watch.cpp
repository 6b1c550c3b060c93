#include "app/run_watch.h"

#include <fmt/format.h>

#include "base/error.h"
#include "inspect/run_recording.h"
#include "server/inspect_routes.h"
#include "server/openai_routes.h"
#include "server/runs_routes.h"

namespace limpid {
namespace {

constexpr int kUsualPort = 8080;

std::unique_ptr<Server> make_server(const WatchOptions& options) {
  const auto at = [](int port) { return std::make_unique<Server>(ServerOptions{.port = port, .page = find_page()}); };
  if (options.port) return at(*options.port);
  try {
    return at(kUsualPort);
  } catch (const Error&) {  // somebody else listens there
    return at(0);
  }
}

}  // namespace

std::function<void(const Model&, const Dataset&, int64_t)> run_recorder(std::filesystem::path folder) {
  auto recording = std::make_shared<std::optional<RunRecording>>();
  return [recording, folder = std::move(folder)](const Model& model, const Dataset& dataset, int64_t step) {
    if (!dataset.valid) return;
    try {
      if (!*recording) recording->emplace(folder, *dataset.valid);
      (*recording)->record(model, dataset.tokenizers, step);
    } catch (const Error&) {
      // The checkpoint, which matters more, says what is wrong with the disk.
    }
  };
}

void add_watch_options(CommandLine& line, WatchOptions& options) {
  line.add_flag("--watch", options.watch, "serve a page on which the run can be watched, and print its address");
  line.add_option("--port", options.port,
                  "of --watch (default: 8080, or a free one where that is taken; 0: a free one)")
      ->check(CLI::Range(0, 65535));
}

struct RunWatch::Impl {
  explicit Impl(const WatchOptions& options) : server(make_server(options)) {}

  ServedModels models;  // none: the run's own model changes while it is trained
  WatchedRuns runs;
  RunEvents events;
  std::unique_ptr<Server> server;
};

RunWatch::RunWatch(const std::filesystem::path& folder, const WatchOptions& options) {
  if (!options.watch) return;
  impl_ = std::make_unique<Impl>(options);
  impl_->runs.add(folder);
  add_openai_routes(*impl_->server, impl_->models);
  add_inspect_routes(*impl_->server, impl_->models);
  add_runs_routes(*impl_->server, impl_->runs, impl_->events);
  impl_->server->start();
  impl_->server->set_ready();
  fmt::print(stderr, "Watch the run at {}/#room=training\n", impl_->server->address());
}

RunWatch::~RunWatch() {
  if (impl_) impl_->server->stop(std::chrono::seconds(1));
}

}  // namespace limpid
