#include "server/http.h"

#include <algorithm>

namespace limpid {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

std::string_view Request::parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string_view{} : std::string_view(found->second);
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Payload Too Large";
    case 415: return "Unsupported Media Type";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Entity";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      result += ' ';
    } else if (text[i] != '%') {
      result += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      result += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return result;
}

std::optional<std::map<std::string, std::string>> parse_form(std::string_view text) {
  std::map<std::string, std::string> form;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('&', begin), text.size());
    const std::string_view pair = text.substr(begin, end - begin);
    begin = end + 1;
    if (pair.empty()) continue;
    const size_t sign = pair.find('=');
    const bool bare = sign == std::string_view::npos;
    const auto name = percent_decoded(bare ? pair : pair.substr(0, sign), true);
    const auto value = percent_decoded(bare ? std::string_view() : pair.substr(sign + 1), true);
    if (!name || !value) return std::nullopt;
    form[*name] = *value;
  }
  return form;
}

bool parse_target(std::string_view target, Request& request) {
  if (target.empty() || target[0] != '/') return false;
  target = target.substr(0, target.find('#'));
  const size_t mark = std::min(target.find('?'), target.size());
  const auto path = percent_decoded(target.substr(0, mark));
  auto query = parse_form(target.substr(std::min(mark + 1, target.size())));
  if (!path || !query || path->find('\0') != std::string::npos) return false;
  request.path = target.substr(0, mark);
  request.query = std::move(*query);
  return true;
}

Response event_stream_head() {
  return {200, "", "text/event-stream; charset=utf-8", {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}}};
}

std::string event_text(std::string_view data, std::string_view event) {
  std::string text = event.empty() ? std::string() : fmt::format("event: {}\n", event);
  for (size_t begin = 0; begin <= data.size();) {
    const size_t end = std::min(data.find('\n', begin), data.size());
    text += fmt::format("data: {}\n", data.substr(begin, end - begin));
    begin = end + 1;
  }
  return text + "\n";
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace limpid
