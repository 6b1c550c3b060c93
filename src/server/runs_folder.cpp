#include "server/runs_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <toml++/toml.h>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"
#include "formats/safetensors.h"
#include "inspect/run_recording.h"
#include "server/http.h"
#include "server/inspect_call.h"
#include "training/run_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string text_of(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none) ? read_text(path) : "";
}

Json parsed(const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Json() : value;
}

// Whether somebody holds a lock on the file. Asked of the kernel's list, so that the asking itself is never in the way
// of a run that begins.
bool is_locked(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return false;
  std::ifstream locks("/proc/locks");
  const std::string inode = fmt::format(":{}", info.st_ino);
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, process, place;
    words >> number >> kind >> mode >> access >> process >> place;
    if (kind == "FLOCK" && place.ends_with(inode)) return true;
  }
  return false;
}

std::vector<Json> read_log(const fs::path& path) {
  int64_t offset = 0;
  std::vector<Json> events;
  for (const std::string& line : new_lines(path, offset)) {
    Json event = parsed(line);
    if (event.is_object() && event.value("event", Json("")).is_string()) {
      event["line"] = events.size() + 1;
      events.push_back(std::move(event));
    } else {
      events.push_back({{"event", "unreadable"}, {"line", events.size() + 1}});
    }
  }
  return events;
}

const Json* last_of(const std::vector<Json>& events, std::string_view kind) {
  const auto found =
      std::find_if(events.rbegin(), events.rend(), [&](const Json& e) { return e.value("event", "") == kind; });
  return found == events.rend() ? nullptr : &*found;
}

std::string written_at(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "";
  struct tm when {};
  ::gmtime_r(&info.st_mtime, &when);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &when);
  return text.data();
}

Json recipe_json(const std::string& toml) {
  try {
    std::ostringstream text;
    text << toml::json_formatter{toml::parse(toml)};
    return parsed(text.str());
  } catch (const toml::parse_error&) {
    return {};
  }
}

// From where the server runs, if the folder lies below it.
fs::path as_typed(const fs::path& folder) {
  std::error_code none;
  const fs::path below = folder.lexically_relative(fs::current_path(none));
  return below.empty() || *below.begin() == ".." ? folder : below;
}

}  // namespace

std::vector<std::string> new_lines(const fs::path& file, int64_t& offset) {
  std::vector<std::string> lines;
  std::error_code error;
  const auto size = static_cast<int64_t>(fs::file_size(file, error));
  if (error) return lines;
  if (size < offset) {
    offset = -1;
    return lines;
  }
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(offset);
  for (std::string line; std::getline(stream, line) && !stream.eof();) {
    offset += static_cast<int64_t>(line.size()) + 1;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string last_line(const fs::path& file) {
  constexpr int64_t kBlock = 4096;
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  std::string end;  // of the file
  for (int64_t begin = stream ? static_cast<int64_t>(stream.tellg()) : 0; begin > 0;) {
    const int64_t size = std::min(kBlock, begin);
    begin -= size;
    std::string block(static_cast<size_t>(size), '\0');
    stream.seekg(begin);
    if (!stream.read(block.data(), size)) return "";
    end.insert(0, block);
    const size_t last = end.rfind('\n');
    if (last == std::string::npos) continue;
    const size_t before = last == 0 ? std::string::npos : end.rfind('\n', last - 1);
    if (before != std::string::npos || begin == 0) {
      const size_t first = before == std::string::npos ? 0 : before + 1;
      return end.substr(first, last - first);
    }
  }
  return "";
}

bool WatchedRun::running() const { return is_locked(folder_ / "lock"); }

std::string WatchedRun::state() const {
  if (running()) return "running";
  const std::string line = last_line(log());
  if (line.empty()) return "empty";
  const Json event = parsed(line);
  const auto name = event.is_object() ? event.find("event") : event.end();
  return name != event.end() && *name == "finished" ? "finished" : "stopped";
}

Json WatchedRun::summary() const {
  const std::vector<Json> events = read_log(log());
  Json json = {{"id", id_}, {"state", state()}};
  if (const Json* step = last_of(events, "step"))
    for (const char* key :
         {"step", "steps", "epoch", "loss", "learning_rate", "tokens_per_second", "seconds", "seconds_left"})
      json[key] = step->value(key, Json());
  if (const Json* validation = last_of(events, "validation")) {
    json["validation"] = *validation;
    json["validation"].erase("samples");
  }
  const Json config = parsed(text_of(folder_ / "config.json"));
  json["model_type"] = config.is_object() ? config.value("model_type", Json()) : Json();
  json["updated"] = written_at(log());
  json["model"] = model_.empty() ? Json() : Json(model_);
  return json;
}

Json WatchedRun::details() const {
  Json json = summary();
  const std::string recipe = text_of(folder_ / "recipe.toml");
  json["recipe"] = recipe_json(recipe);
  json["recipe_toml"] = recipe;
  json["training"] = parsed(text_of(folder_ / "training.json"));
  json["recorded"] = !recorded_steps(folder_).empty();
  json["command"] = "limpid log " + shell_quoted(as_typed(folder_).string());
  return json;
}

Json WatchedRun::samples() const {
  Json list = Json::array();
  for (const Json& event : read_log(log()))
    if (event.contains("samples")) list.push_back({{"step", event.value("step", Json())}, {"shown", event["samples"]}});
  return {{"samples", std::move(list)}};
}

Json WatchedRun::events(int64_t after, int64_t thin) const {
  std::vector<Json> events = read_log(log());
  const auto next = std::ssize(events);
  events.erase(events.begin(), events.begin() + std::clamp<int64_t>(after, 0, next));
  const auto is_step = [](const Json& event) { return event.value("event", "") == "step"; };
  const auto steps = std::count_if(events.begin(), events.end(), is_step);
  Json list = Json::array();
  int64_t seen = 0;
  for (Json& event : events) {
    if (is_step(event) && thin > 0 && steps > thin) {
      const int64_t before = seen * thin / steps, now = (seen + 1) * thin / steps;
      if (++seen < steps && before == now) continue;
    }
    list.push_back(std::move(event));
  }
  return {{"events", std::move(list)}, {"next", next}};
}

Json WatchedRun::recorded() const {
  const std::vector<int64_t> steps = recorded_steps(folder_);
  Json json = {{"steps", steps}};
  if (steps.empty()) return json;
  const std::string bytes = recording(steps.back());
  const auto contents = parse_safetensors(std::as_bytes(std::span(bytes)), "[recorded]");
  const auto found = contents.metadata.find("limpid");
  const Json meta = found == contents.metadata.end() ? Json() : parsed(found->second);
  for (const char* key : {"text", "target", "attention", "layers", "source", "input", "next"})
    json[key] = meta.is_object() ? meta.value(key, Json()) : Json();
  return json;
}

std::string WatchedRun::recording(int64_t step) const {
  const fs::path path = recording_of(folder_, step);
  std::error_code none;
  if (!fs::exists(path, none)) throw HttpError(404, fmt::format("The run recorded nothing at step {}.", step));
  return read_text(path);
}

void WatchedRuns::add(const fs::path& folder, const std::string& model) {
  const fs::path whole = absolute_path(folder);
  const fs::path path = whole.has_filename() ? whole : whole.parent_path();
  for (const WatchedRun& run : runs_)
    if (run.folder() == path) return;
  const std::string name = path.filename().string();
  std::string id = name;
  const auto taken = [&] {
    return std::any_of(runs_.begin(), runs_.end(), [&](const WatchedRun& r) { return r.id() == id; });
  };
  for (int number = 2; taken(); ++number) id = fmt::format("{}-{}", name, number);
  runs_.emplace_back(id, path, model);
}

void WatchedRuns::add_all_in(const fs::path& folder) {
  check(is_folder(folder), "[runs] {}: there is no such folder: name one that holds runs", folder);
  for (const fs::path& path : paths_in(folder))
    if (is_run_folder(path)) add(path);
}

const WatchedRun& WatchedRuns::find(const std::string& id) const {
  for (const WatchedRun& run : runs_)
    if (run.id() == id) return run;
  throw HttpError(404, fmt::format("There is no run \"{}\": GET /runs lists those there are.", id));
}

}  // namespace limpid
