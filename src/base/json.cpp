#include "base/json.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace limpid {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

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

// Adds a member to an object; null where it has the name already. `names` are those of an ordered object, which is a
// list that knows no quick way to find one.
json* add_member(json& object, std::string name, std::unordered_set<std::string>&) {
  const auto [place, fresh] = object.emplace(std::move(name), nullptr);
  return fresh ? &*place : nullptr;
}
ordered_json* add_member(ordered_json& object, std::string name, std::unordered_set<std::string>& names) {
  if (!names.insert(name).second) return nullptr;
  auto& members = object.get_ref<ordered_json::object_t&>();
  return &members.std::vector<std::pair<const std::string, ordered_json>>::emplace_back(std::move(name), nullptr)
              .second;
}

// Builds the value from what the parser reads, and stops at what the grammar allows and we do not. (The library's own
// callback for this looks through the whole parent at the end of each object: minutes for 100,000 tensors.)
template <class Json>
class Builder : public nlohmann::json_sax<Json> {
 public:
  using Base = nlohmann::json_sax<Json>;
  Builder(std::string_view text, std::string_view where) : text_(text), where_(where) {}
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(typename Base::number_integer_t value) override { return add(value); }
  bool number_unsigned(typename Base::number_unsigned_t value) override { return add(value); }
  bool number_float(typename Base::number_float_t value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(typename Base::binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    member_ = add_member(*open_.back().value, name, open_.back().names);
    check(member_ != nullptr, "{}: has the key {} twice in one object: remove one", where_, in_quotes(name));
    return true;
  }

  bool parse_error(std::size_t bytes_read, const std::string&, const json::exception& error) override {
    const size_t byte = std::min(text_.size(), std::max<size_t>(bytes_read, 1) - 1);  // the last one read is at fault
    fail("{}{}: {}: is the file whole and JSON?", where_, position_text(text_, byte), json_reason(error));
  }

 private:
  struct Open {
    Json* value;
    std::unordered_set<std::string> names = {};
  };
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back().value;
    if (parent.is_object()) return *member_ = std::move(value);
    parent.push_back(std::move(value));
    return parent.back();
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    check(open_.size() < kMaxJsonDepth, "{}: is nested deeper than {}: is this the right file?", where_, kMaxJsonDepth);
    open_.push_back({&place(std::move(value))});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_, where_;
  Json root_;
  std::vector<Open> open_;  // objects and lists not yet closed; only the last one grows, so these stay where they are
  Json* member_ = nullptr;  // of the last key, to be filled
};

template <class Json>
Json parse(std::string_view text, std::string_view where) {
  const bool blank = text.find_first_not_of(" \t\r\n") == text.npos;
  check(!blank, "{}: is empty where JSON is expected: was its download or its writing cut short?", where);
  Builder<Json> builder(text, where);
  Json::sax_parse(text.begin(), text.end(), &builder);  // throws from parse_error
  return builder.take();
}

}  // namespace

json parse_json(std::string_view text, std::string_view where) { return parse<json>(text, where); }

ordered_json parse_ordered_json(std::string_view text, std::string_view where) {
  return parse<ordered_json>(text, where);
}

json read_json(const std::filesystem::path& path) { return parse_json(read_text(path), "[json] " + path.string()); }

// "[json.exception.parse_error.101] parse error at line 1, column 2: …"
std::string json_reason(const json::exception& error) {
  std::string_view reason = error.what();
  if (const size_t start = reason.find("] "); start != reason.npos) reason.remove_prefix(start + 2);
  if (const size_t column = reason.find(", column "); column != reason.npos)
    if (const size_t start = reason.find(": ", column); start != reason.npos) reason.remove_prefix(start + 2);
  return printable(reason, 200);
}

std::string InQuotes::string() const { return '"' + printable(text, 100) + '"'; }

}  // namespace limpid
