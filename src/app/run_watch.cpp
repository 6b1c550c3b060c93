#include "app/run_watch.h"

#include <fmt/format.h>

#include "base/error.h"
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

// The server on a run, with what it shows.
struct WatchServer {
  WatchServer(const std::filesystem::path& folder, const WatchOptions& options) : server(make_server(options)) {
    runs.add(folder);
    add_openai_routes(*server, models);
    add_inspect_routes(*server, models);
    add_runs_routes(*server, runs, events);
    server->start();
    server->set_ready();
  }
  ~WatchServer() {
    events.end();  // while the server is there to send the ends of the streams
    server->stop(std::chrono::seconds(1));
  }

  ServedModels models;  // none: the run's own model changes while it is trained
  WatchedRuns runs;
  RunEvents events;
  std::unique_ptr<Server> server;  // gone first: its routes use the others
};

}  // namespace

RunWatch::RunWatch(const std::filesystem::path& folder, const WatchOptions& options) {
  if (!options.watch) return;
  const auto server = std::make_shared<WatchServer>(folder, options);
  fmt::print(stderr, "Watch the run at {}/#room=training\n", server->server->address());
  server_ = server;
}

}  // namespace limpid
