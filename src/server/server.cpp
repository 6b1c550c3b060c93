#include "server/server.h"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/cancellation.h"

namespace limpid {
namespace {

// Bytes of memory that the process has now.
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE));
}

// Reading so many bytes of JSON and tokens takes a while: others should not wait for it.
constexpr size_t kLargeBody = 256 << 10;

}  // namespace

Server::Server(ServerOptions options) : options_(std::move(options)), access_(options_.access), page_(options_.page) {
  describe_metrics();
  TransportOptions transport{.host = options_.access.host, .port = options_.port, .limits = options_.limits};
  transport.keep_text = options_.log_text;
  transport.admit = [this](Request& head) { return admit(head); };
  transport.handle = [this](Request request, std::shared_ptr<Reply> reply) {
    handle(std::move(request), std::move(reply));
  };
  transport.refusal = [this](const std::string& method, const std::string& path, int status,
                             const std::string& message) {
    const Router::Match match = router_.find(method, path);
    return error_response(HttpError(status, message), match.route ? match.route->options.errors : ErrorShape::openai);
  };
  transport.finished = [this](const Exchange& exchange) { finished(exchange); };
  transport_ = std::make_unique<Transport>(std::move(transport));
  workers_ = std::make_unique<Workers>(options_.workers, options_.waiting);
  heavy_workers_ = std::make_unique<Workers>(options_.heavy_workers, options_.waiting);
}

Server::~Server() { stop(std::chrono::duration<double>(0)); }

std::string Server::address() const {
  const std::string& host = options_.access.host;
  const std::string name = host == "0.0.0.0" || host == "*" ? "127.0.0.1" : host == "::" ? "::1" : host;
  return fmt::format("http://{}:{}", name.find(':') == std::string::npos ? name : "[" + name + "]", port());
}

void Server::describe_metrics() {
  metrics_.describe("requests_total", "counter", "Requests answered, by route and status.");
  metrics_.describe("cancelled_total", "counter", "Requests whose client left before the end of the answer.");
  metrics_.describe("request_seconds", "histogram", "Time from the end of a request to the end of its answer.",
                    {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100});
  metrics_.describe("connections", "gauge", "Open connections.");
  metrics_.describe("requests_running", "gauge", "Requests that are being answered.");
  metrics_.describe("handlers_waiting", "gauge", "Requests that wait for a thread.");
  metrics_.describe("memory_bytes", "gauge", "Resident memory of the process.");
  metrics_.gauge("memory_bytes", {}, resident_bytes);
  metrics_.gauge("connections", {}, [this] { return static_cast<double>(transport_->connections()); });
  metrics_.gauge("requests_running", {}, [this] { return static_cast<double>(transport_->requests()); });
  metrics_.gauge("handlers_waiting", {{"kind", "quick"}}, [this] { return static_cast<double>(workers_->waiting()); });
  metrics_.gauge("handlers_waiting", {{"kind", "heavy"}},
                 [this] { return static_cast<double>(heavy_workers_->waiting()); });
}

Response Server::health() const {
  if (stopping_) return {503, "{\"status\": \"stopping\"}\n"};
  if (!ready_) return {503, "{\"status\": \"loading\"}\n"};
  return {200, "{\"status\": \"ok\"}\n"};
}

void Server::add_own_routes() {
  router_.add("GET", "/health", [this](const Request&) { return health(); },
              {.summary = "Whether the server is ready: 200 once its models are loaded, 503 before.",
               .needs_key = false,
               .at_once = true});
  router_.add("GET", "/metrics",
              [this](const Request&) {
                return Response{200, metrics_.text(), "text/plain; version=0.0.4; charset=utf-8"};
              },
              {.summary = "Counters in the text format of Prometheus.", .gives = {"text/plain"}, .at_once = true});
  router_.add("GET", "/openapi.json",
              [this](const Request&) {
                return Response{200, openapi_document(router_.routes())};
              },
              {.summary = "This description.", .needs_key = false});
  // Last: what no other route has is looked for among the page's files.
  router_.add("GET", "/{file...}",
              [this](const Request& request) {
                const bool gzip = request.header("accept-encoding").find("gzip") != std::string_view::npos;
                return page_.answer(std::string(request.parameter("file")), gzip);
              },
              {.needs_key = false});
}

void Server::start() {
  add_own_routes();
  transport_->start();
}

void Server::stop(std::chrono::duration<double> grace) {
  stopping_ = true;
  transport_->stop(grace);
  workers_->stop();
  heavy_workers_->stop();
}

void Server::check_admission(const Request& head, const Router::Match& match) const {
  access_.check_host(head);
  access_.check_origin(head);
  if (head.method == "OPTIONS") return;
  if (!match.route && !match.allowed.empty())
    throw HttpError(405, fmt::format("{} takes {}.", head.path, match.allowed),
                    {.headers = {{"Allow", match.allowed}}});
  if (!match.route) {
    if (head.method != "GET" && head.method != "POST" && head.method != "HEAD")
      throw HttpError(405, fmt::format("The method {} is not used here.", head.method),
                      {.headers = {{"Allow", "GET, POST"}}});
    throw HttpError(
        404, fmt::format("There is nothing at {} {}. /openapi.json lists what there is.", head.method, head.path));
  }
  const RouteOptions& options = match.route->options;
  const bool later = options.key_in_body && Access::key_in_headers(head).empty();
  if (options.needs_key && !later) access_.check_key(head);
  if (options.needs_key && (!ready_ || stopping_))
    throw HttpError(503, ready_ ? "The server is stopping." : "The models are being loaded.",
                    {.headers = {{"Retry-After", "1"}}});
}

Admission Server::admit(Request& head) {
  head.id = fmt::format("req-{}-{}", name_, ++numbers_);
  Admission admission;
  const Router::Match match = router_.find(head.method, head.path);
  admission.endless = match.route && match.route->options.endless;
  admission.headers = {{"X-Request-Id", head.id}, {"X-Content-Type-Options", "nosniff"}};
  for (auto& header : access_.cross_origin_headers(head)) admission.headers.push_back(std::move(header));
  try {
    check_admission(head, match);
    if (head.method == "OPTIONS") admission.refusal = Response{204, "", ""};
  } catch (const HttpError& error) {
    admission.refusal = error_response(error, match.route ? match.route->options.errors : ErrorShape::openai);
  }
  return admission;
}

void Server::handle(Request request, const std::shared_ptr<Reply>& reply) {
  Router::Match match = router_.find(request.method, request.path);
  request.parameters = std::move(match.parameters);
  const Route& route = *match.route;
  request.fields = route.options.fields;
  const auto shared = std::make_shared<const Request>(std::move(request));
  const auto work = [&route, shared, reply] { route.handler(*shared, reply); };
  if (route.options.at_once) return run_handler(shared->deadline, route.options.errors, reply, work);
  const bool heavy = route.options.heavy || shared->body.size() > kLargeBody;
  run_on(heavy ? *heavy_workers_ : *workers_, *shared, route.options.errors, reply, work);
}

void Server::compute(const Request& request, const std::shared_ptr<Reply>& reply, std::function<void()> work) {
  const Router::Match match = router_.find(request.method, request.path);
  run_on(*heavy_workers_, request, match.route ? match.route->options.errors : ErrorShape::openai, reply,
         std::move(work));
}

void Server::run_on(Workers& workers, const Request& request, ErrorShape errors, const std::shared_ptr<Reply>& reply,
                    std::function<void()> work) {
  const bool taken = workers.run([deadline = request.deadline, errors, reply, work = std::move(work)] {
    if (!reply->cancelled()) run_handler(deadline, errors, reply, work);
  });
  if (!taken)
    reply->send(error_response(
        HttpError(429, "Too many requests are waiting: try again soon.", {.headers = {{"Retry-After", "1"}}}), errors));
}

void run_handler(const std::optional<Deadline>& deadline, ErrorShape errors, const std::shared_ptr<Reply>& reply,
                 const std::function<void()>& work) {
  const CancellationScope scope([&] {
    if (reply->cancelled()) throw Error("Nobody waits for the answer any more.", ErrorKind::cancelled);
    if (deadline && Deadline::clock::now() > *deadline)
      throw HttpError(408, "The request took longer than is allowed.");
  });
  try {
    work();
  } catch (const std::exception& error) {
    if (!reply->cancelled()) reply->send(error_response(as_http_error(error), errors));
  }
}

void Server::finished(const Exchange& exchange) {
  const Router::Match match = router_.find(exchange.method, exchange.path);
  const Labels route = {{"route", match.route ? match.route->pattern : "none"}};
  Labels labels = route;
  labels.emplace_back("status", std::to_string(exchange.status));
  metrics_.count("requests_total", labels);
  if (exchange.cancelled) metrics_.count("cancelled_total", route);
  metrics_.observe("request_seconds", route, exchange.seconds);
  if (!options_.access_log) return;
  using Time = std::chrono::system_clock;
  nlohmann::ordered_json line = {
      {"time", std::chrono::duration<double>(Time::now().time_since_epoch()).count()},
      {"id", exchange.id},
      {"client", exchange.client},
      {"method", exchange.method},
      {"path", exchange.path},
      {"status", exchange.status},
      {"seconds", exchange.seconds},
      {"bytes_in", exchange.bytes_in},
      {"bytes_out", exchange.bytes_out},
      {"cancelled", exchange.cancelled},
  };
  if (options_.log_text) line["text"] = exchange.text;
  options_.access_log(line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace limpid
