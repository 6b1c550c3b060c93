#include "server/router.h"

#include <nlohmann/json.hpp>

namespace limpid {
namespace {

using PathParameters = std::map<std::string, std::string>;

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (path.remove_prefix(1);;) {
    const size_t end = path.find('/');
    parts.push_back(path.substr(0, end));
    if (end == std::string_view::npos) return parts;
    path.remove_prefix(end + 1);
  }
}

std::string decoded(std::string_view part) { return percent_decoded(part).value_or(std::string(part)); }

bool takes_the_rest(std::string_view pattern) { return pattern.ends_with("...}"); }

std::optional<PathParameters> match(std::string_view pattern, std::string_view path) {
  if (path.empty() || path[0] != '/') return std::nullopt;
  const std::vector<std::string_view> wanted = parts_of(pattern), given = parts_of(path);
  PathParameters parameters;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i >= given.size()) return std::nullopt;
    const std::string_view name = wanted[i], part = given[i];
    if (takes_the_rest(name)) {
      parameters[std::string(name.substr(1, name.size() - 5))] =
          decoded(path.substr(static_cast<size_t>(part.data() - path.data())));
      return parameters;
    }
    if (name.starts_with('{') && name.ends_with('}') && !part.empty())
      parameters[std::string(name.substr(1, name.size() - 2))] = decoded(part);
    else if (name != decoded(part))
      return std::nullopt;
  }
  return wanted.size() == given.size() ? std::optional(parameters) : std::nullopt;
}

std::string_view openai_type(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 429: return "rate_limit_error";
    default: return status < 500 ? "invalid_request_error" : "server_error";
  }
}

}  // namespace

HttpError as_http_error(const std::exception& error) {
  if (const auto* http = dynamic_cast<const HttpError*>(&error)) return *http;
  if (dynamic_cast<const std::bad_alloc*>(&error)) return {503, "The server has no memory for this now."};
  const auto* own = dynamic_cast<const Error*>(&error);
  if (!own) return {500, fmt::format("Unexpected failure: {}", error.what())};
  switch (own->kind()) {
    case ErrorKind::bad_input:
    case ErrorKind::unsupported: return {400, error.what()};
    case ErrorKind::not_found: return {404, error.what()};
    case ErrorKind::out_of_memory:
    case ErrorKind::cancelled: return {503, error.what()};
    case ErrorKind::io:
    case ErrorKind::internal: break;
  }
  return {500, error.what()};
}

void Router::add(std::string method, std::string pattern, Handler handler, RouteOptions options) {
  check(pattern.starts_with('/'), "[server] a route \"{}\": it begins with \"/\"", pattern);
  for (const Route& route : routes_)
    check(route.method != method || route.pattern != pattern, "[server] two routes {} {}", method, pattern);
  routes_.push_back({std::move(method), std::move(pattern), std::move(handler), std::move(options)});
}

void Router::add(std::string method, std::string pattern, std::function<Response(const Request&)> handler,
                 RouteOptions options) {
  add(std::move(method), std::move(pattern),
      Handler([answer = std::move(handler)](const Request& request, const std::shared_ptr<Reply>& reply) {
        reply->send(answer(request));
      }),
      std::move(options));
}

Router::Match Router::find(const std::string& method, const std::string& path) const {
  Match result;
  const std::string wanted = method == "HEAD" ? "GET" : method;
  for (const Route& route : routes_) {
    auto parameters = match(route.pattern, path);
    if (!parameters) continue;
    const bool another_is_meant = takes_the_rest(route.pattern) && !result.allowed.empty();
    if (route.method == wanted && !another_is_meant) return {&route, std::move(*parameters), {}};
    if (takes_the_rest(route.pattern)) continue;
    result.allowed += (result.allowed.empty() ? "" : ", ") + route.method;
  }
  return result;
}

Response error_response(const HttpError& error, ErrorShape shape) {
  using nlohmann::ordered_json;
  const auto text_or_null = [](const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); };
  ordered_json body;
  if (shape == ErrorShape::plain) {
    body["error"] = error.what();
  } else {
    body["error"] = {{"message", error.what()},
                     {"type", openai_type(error.status())},
                     {"param", text_or_null(error.details().param)},
                     {"code", text_or_null(error.details().code)}};
    if (error.details().limit > 0) {
      body["error"]["length"] = error.details().length;
      body["error"]["limit"] = error.details().limit;
    }
  }
  // What a client sent may stand in the message, in any bytes.
  return {error.status(), body.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n", "application/json",
          error.details().headers};
}

}  // namespace limpid
