#include "server/runs_routes.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "server/inspect_call.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

int64_t number_in(const std::string& text, const std::string& name) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    throw HttpError(400, fmt::format("\"{}\" is to be a whole number.", name), {.param = name});
  return number;
}

int64_t query_number(const Request& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? 0 : number_in(found->second, name);
}

Response answer(const Json& json) { return {200, dumped(json)}; }

}  // namespace

void add_runs_routes(Server& server, const WatchedRuns& runs, RunEvents& events) {
  Router& router = server.router();
  const auto add = [&](const char* pattern, const char* summary,
                       std::function<Response(const WatchedRun&, const Request&)> handler, RouteOptions options = {}) {
    options.summary = summary;
    router.add(
        "GET", pattern,
        [&runs, handler = std::move(handler)](const Request& request) {
          return handler(runs.find(std::string(request.parameter("id"))), request);
        },
        std::move(options));
  };
  router.add("GET", "/runs",
             [&runs](const Request&) {
               Json list = Json::array();
               for (const WatchedRun& run : runs.all()) list.push_back(run.summary());
               return answer({{"runs", std::move(list)}});
             },
             {.summary = "The training runs that are watched."});
  add("/runs/{id}", "One run: state, last step and validation, recipe.",
      [](const WatchedRun& run, const Request&) { return answer(run.details()); });
  add("/runs/{id}/recipe", "The recipe of a run, TOML.",
      [](const WatchedRun& run, const Request&) {
        return Response{200, run.details().value("recipe_toml", ""), "text/plain; charset=utf-8"};
      },
      {.gives = {"text/plain"}});
  add("/runs/{id}/log", "What the run has logged after a line, steps thinned out.",
      [](const WatchedRun& run, const Request& request) {
        return answer(run.events(query_number(request, "after"), query_number(request, "thin")));
      },
      {.query = "after:integer thin:integer"});
  add("/runs/{id}/samples", "What the model wrote at each validation.",
      [](const WatchedRun& run, const Request&) { return answer(run.samples()); });
  add("/runs/{id}/recorded", "The steps at which attention and lens of a sentence were recorded.",
      [](const WatchedRun& run, const Request&) { return answer(run.recorded()); });
  add("/runs/{id}/recorded/{step}", "Attention and lens at one step, as safetensors.",
      [](const WatchedRun& run, const Request& request) {
        const int64_t step = number_in(std::string(request.parameter("step")), "step");
        return Response{200, run.recording(step), "application/octet-stream"};
      },
      {.gives = {"application/octet-stream"}});
  router.add("GET", "/runs/{id}/events",
             Handler([&runs, &events](const Request& request, const std::shared_ptr<Reply>& reply) {
               const WatchedRun& run = runs.find(std::string(request.parameter("id")));
               const std::string_view last = request.header("last-event-id");
               const int64_t after =
                   last.empty() ? query_number(request, "after") : number_in(std::string(last), "last-event-id");
               events.listen(run, after, reply);
             }),
             {.summary = "Events of a run as they come (SSE): step, validation, diverged, finished, state, reset.",
              .query = "after:integer",
              .gives = {"text/event-stream"},
              .endless = true});
}

}  // namespace limpid
