#include "server/access.h"

#include <algorithm>

namespace limpid {
namespace {

// "name" of "name:8080", "::1" of "[::1]:8080".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  if (std::count(host.begin(), host.end(), ':') > 1) return host;
  return host.substr(0, host.find(':'));
}

bool contains(const std::vector<std::string>& list, std::string_view value) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& entry) { return entry == "*" || lower(entry) == value; });
}

}  // namespace

bool is_loopback(std::string_view host) {
  // A name such as 127.example.org is somebody else's.
  const bool number = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host.ends_with(".localhost") || host == "::1" || (number && host.starts_with("127."));
}

Access::Access(AccessOptions options) : options_(std::move(options)) {
  check(is_loopback(options_.host) || has_key() || options_.no_key,
        "[server] on {} others can reach the server: give it an API key, or allow it to be without one", options_.host);
}

bool Access::own_host(std::string_view host) const {
  const std::string name = lower(without_port(host));
  if (contains(options_.hosts, name) || contains(options_.hosts, lower(host))) return true;
  if (is_loopback(options_.host)) return is_loopback(name);
  // Bound to all addresses: a number cannot be made to point elsewhere, and names have to be listed.
  const bool is_number =
      name.find_first_not_of("0123456789.") == std::string::npos || name.find(':') != std::string::npos;
  return name == lower(options_.host) || is_number || name == "localhost";
}

void Access::check_host(const Request& request) const {
  const std::string_view host = request.header("host");
  if (host.empty()) throw HttpError(400, "The request has no Host header.");
  if (!own_host(host))
    throw HttpError(421, fmt::format("This server does not answer for the host \"{}\": call it by another name, or let "
                                     "whoever runs it allow this one.",
                                     without_port(host)));
}

bool Access::allowed_origin(const Request& request, std::string_view origin) const {
  const std::string name = lower(origin);
  if (contains(options_.origins, name)) return true;
  // Its own page: the origin names the same host and port as the request does.
  const std::string host = lower(request.header("host"));
  return name == "http://" + host || name == "https://" + host;
}

void Access::check_origin(const Request& request) const {
  const std::string_view origin = request.header("origin");
  if (origin.empty()) {
    // Browsers that send no Origin with simple requests say where they come from by this.
    const std::string_view site = request.header("sec-fetch-site");
    const bool reads_the_page = request.method == "GET" && request.header("sec-fetch-mode") == "navigate";
    if (site != "cross-site" || reads_the_page || contains(options_.origins, "*")) return;
    throw HttpError(403, "Requests from other web pages are not allowed: let whoever runs the server allow this one.");
  }
  if (!allowed_origin(request, origin))
    throw HttpError(
        403,
        fmt::format("Requests from the web page at {} are not allowed: let whoever runs the server allow it.", origin));
}

bool Access::is_key(std::string_view candidate) const {
  const std::string& key = options_.key;
  unsigned difference = candidate.size() == key.size() ? 0 : 1;
  for (size_t i = 0; i < key.size(); ++i) {
    const auto other = static_cast<unsigned char>(candidate.empty() ? 0 : candidate[i % candidate.size()]);
    difference |= static_cast<unsigned>(static_cast<unsigned char>(key[i])) ^ other;
  }
  return difference == 0;
}

std::string_view Access::key_in_headers(const Request& request) {
  static constexpr std::string_view kBearer = "bearer ";
  std::string_view value = request.header("authorization");
  if (lower(value.substr(0, kBearer.size())) != kBearer) return request.header("x-api-key");
  value.remove_prefix(kBearer.size());
  return value;
}

void Access::check_key(const Request& request) const {
  if (!has_key()) return;
  const std::string_view candidate = key_in_headers(request);
  const Headers challenge = {{"WWW-Authenticate", "Bearer"}};
  if (candidate.empty())
    throw HttpError(401, "This server wants a key: send the header \"Authorization: Bearer KEY\".",
                    {.code = "invalid_api_key", .headers = challenge});
  if (!is_key(candidate)) throw HttpError(401, "The key is wrong.", {.code = "invalid_api_key", .headers = challenge});
}

Headers Access::cross_origin_headers(const Request& request) const {
  const std::string_view origin = request.header("origin");
  if (origin.empty() || !allowed_origin(request, origin)) return {};
  Headers headers = {{"Access-Control-Allow-Origin", std::string(origin)},
                     {"Vary", "Origin"},
                     {"Access-Control-Expose-Headers", "X-Request-Id, Retry-After"}};
  if (request.method == "OPTIONS") {
    headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    headers.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Api-Key");
    headers.emplace_back("Access-Control-Max-Age", "600");
    // openai's library and others name headers of their own in the question; those are let through too.
    if (const std::string_view asked = request.header("access-control-request-headers"); !asked.empty())
      headers[4].second = std::string(asked);
  }
  return headers;
}

}  // namespace limpid
