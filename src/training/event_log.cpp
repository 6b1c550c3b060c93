#include "training/event_log.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

namespace limpid {
namespace {

using nlohmann::json;

// The step of a line; the least number for a line that has none, which belongs to the one before it.
int64_t step_of(std::string_view line) {
  const json event = event_of_line(line);
  const auto step = event.find("step");
  const bool found = step != event.end() && step->is_number_integer();
  return found ? step->get<int64_t>() : std::numeric_limits<int64_t>::min();
}

// Bytes of the lines up to and with the given step.
size_t size_until(std::string_view text, int64_t step) {
  for (size_t begin = 0;;) {
    const size_t end = text.find('\n', begin);
    if (end == text.npos || step_of(text.substr(begin, end - begin)) > step) return begin;
    begin = end + 1;
  }
}

}  // namespace

nlohmann::json event_of_line(std::string_view line) {
  try {
    json event = parse_json(line, "[log]");
    if (event.is_object()) return event;
  } catch (const Error&) {  // cut short, or somebody else's
  }
  return json::object();
}

EventLog::EventLog(const std::filesystem::path& path, int64_t step) : file_(path) {
  const std::string text = read_text(path);
  const size_t kept = step < 0 ? 0 : size_until(text, step);
  if (kept == text.size()) return;
  dropped_ = std::count(text.begin() + static_cast<int64_t>(kept), text.end(), '\n') + (text.back() != '\n');
  file_.cut(static_cast<int64_t>(kept));
}

void EventLog::write(const nlohmann::ordered_json& event) {
  const bool whole = event.is_object() && event.contains("step") && event["step"].is_number_integer();
  check(whole, "[log] {}: an event without a step cannot be written: give it \"step\"", file_.path());
  file_.append(event.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace limpid
