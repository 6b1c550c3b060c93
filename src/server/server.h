#pragma once
// Server: transport, access, routes and threads joined. It knows nothing of models: routes do.
//
//   Server server({.port = 8080});
//   server.router().add("GET", "/hello/{name}", [](const Request& request) { … return Response{…}; });
//   server.start();          // answers 503 until
//   server.set_ready();      // what the routes need is there
//   server.stop(seconds);    // finishes what runs

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include "server/access.h"
#include "server/metrics.h"
#include "server/page_files.h"
#include "server/router.h"
#include "server/transport.h"
#include "server/workers.h"

namespace limpid {

struct ServerOptions {
  int port = 8080;  // 0: one that is free
  AccessOptions access = {};
  TransportLimits limits = {};
  int workers = 4;                                        // threads for handlers that are soon done or only hand on
  int heavy_workers = 2;                                  // threads for routes that compute for long
  size_t waiting = 256;                                   // requests that wait for a thread, of each kind
  std::filesystem::path page = {};                        // empty: none
  std::function<void(std::string_view line)> access_log;  // one JSON object per request
  bool log_text = false;                                  // the log has the text of requests too
};

class Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Routes are added before start().
  Router& router() { return router_; }
  Metrics& metrics() { return metrics_; }
  const Access& access() const { return access_; }

  void start();
  void set_ready() { ready_ = true; }
  // What runs gets so long to finish and is broken off then.
  void stop(std::chrono::duration<double> grace);

  // Goes on with a request on one of the threads kept for long work. What the work throws is told in the route's way.
  void compute(const Request& request, const std::shared_ptr<Reply>& reply, std::function<void()> work);

  int port() const { return transport_->port(); }
  std::string address() const;  // http://127.0.0.1:8080
  int64_t connections() const { return transport_->connections(); }
  int64_t requests() const { return transport_->requests(); }

 private:
  void add_own_routes();
  void describe_metrics();
  Admission admit(Request& head);
  void check_admission(const Request& head, const Router::Match& match) const;
  void handle(Request request, const std::shared_ptr<Reply>& reply);
  void run_on(Workers& workers, const Request& request, ErrorShape errors, const std::shared_ptr<Reply>& reply,
              std::function<void()> work);
  void finished(const Exchange& exchange);
  Response health() const;

  ServerOptions options_;
  Access access_;
  Router router_;
  Metrics metrics_;
  PageFiles page_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Workers> workers_, heavy_workers_;  // gone before the transport is
  std::atomic<bool> ready_ = false, stopping_ = false;
  const std::string name_ = fmt::format("{:08x}", std::random_device{}());  // requests' ids differ from a replica's
  std::atomic<int64_t> numbers_ = 0;
};

// Runs what answers a request and tells what it throws. Where the client has left, the deadline is over or the server
// ends, the work is broken off between its steps (base/cancellation.h).
void run_handler(const std::optional<Deadline>& deadline, ErrorShape errors, const std::shared_ptr<Reply>& reply,
                 const std::function<void()>& work);

// The document of all routes that have a summary.
std::string openapi_document(const std::vector<Route>& routes);

}  // namespace limpid
