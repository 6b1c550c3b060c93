#include "formats/json.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace limpid {
namespace {

using nlohmann::json;

// The first bytes of a text, with what could confuse a terminal or a log spelled out.
std::string printable(std::string_view text, size_t limit) {
  std::string result;
  for (const char c : text.substr(0, limit)) {
    if (c >= ' ' && c <= '~')
      result += c;
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text.size() > limit ? result + "..." : result;
}

// ":line:column" of the byte, both from 1; a column is a character of UTF-8.
std::string position_text(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::string_view line = before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
  const auto continuation = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  const auto columns = static_cast<int64_t>(line.size()) - std::count_if(line.begin(), line.end(), continuation);
  return fmt::format(":{}:{}", lines + 1, columns + 1);
}

// What the parser says, without its own "[json.exception.parse_error.101] parse error at line 1, column 2: ".
std::string reason_of(const json::exception& error) {
  std::string_view reason = error.what();
  if (const size_t start = reason.find("] "); start != reason.npos) reason.remove_prefix(start + 2);
  if (const size_t column = reason.find(", column "); column != reason.npos)
    if (const size_t start = reason.find(": ", column); start != reason.npos) reason.remove_prefix(start + 2);
  return printable(reason, 200);
}

// Stops the parser at what its grammar allows and we do not.
class Guard {
 public:
  explicit Guard(std::string_view where) : where_(where) {}

  bool operator()(int depth, json::parse_event_t event, const json& value) {
    using Event = json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start)
      check(depth < kMaxJsonDepth, "{}: is nested deeper than {}: is this the right file?", where_, kMaxJsonDepth);
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key) {
      const auto& key = value.get_ref<const std::string&>();
      check(keys_.back().insert(key).second, "{}: has the key {} twice in one object: remove one", where_,
            in_quotes(key));
    }
    return true;
  }

 private:
  std::string_view where_;
  std::vector<std::unordered_set<std::string>> keys_;  // of each object that is open
};

}  // namespace

json parse_json(std::string_view text, std::string_view where) {
  const bool blank = text.find_first_not_of(" \t\r\n") == text.npos;
  check(!blank, "{}: is empty where JSON is expected: was its download or its writing cut short?", where);
  Guard guard(where);
  try {
    return json::parse(text.begin(), text.end(), std::ref(guard));
  } catch (const json::parse_error& error) {  // error.byte counts what was read, so the last of it is at fault
    const size_t byte = std::min(text.size(), std::max<size_t>(error.byte, 1) - 1);
    fail("{}{}: {}: is the file whole and JSON?", where, position_text(text, byte), reason_of(error));
  } catch (const json::exception& error) {  // a number beyond double
    fail("{}: {}: is the file whole and JSON?", where, reason_of(error));
  }
}

json read_json(const std::filesystem::path& path) { return parse_json(read_text(path), "[json] " + path.string()); }

std::string in_quotes(std::string_view text) { return '"' + printable(text, 100) + '"'; }

}  // namespace limpid
