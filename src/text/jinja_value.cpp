#include "text/jinja_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "text/utf8.h"

namespace limpid::jinja {
namespace {

std::string decimal_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

std::string quoted(const std::string& text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\')
      result.append(1, '\\').append(1, c);
    else if (c == '\n')
      result += "\\n";
    else if (c == '\r')
      result += "\\r";
    else if (c == '\t')
      result += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result += quote;
}

void json_string(const std::string& text, std::string& out) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else
          out += c;
    }
  }
  out += '"';
}

class JsonWriter {
 public:
  JsonWriter(const JsonStyle& style, std::string& out) : style_(style), out_(out) {}

  void write(const Value& value, int depth) {
    if (const auto* text = value.text()) return json_string(*text, out_);
    if (const auto* list = value.list()) return write_list(*list, depth);
    if (const auto* dict = value.dict()) return write_dict(*dict, depth);
    if (const auto* flag = value.boolean()) return void(out_ += *flag ? "true" : "false");
    if (value.is_none()) return void(out_ += "null");
    check(value.is_number(), "[chat template] a value of type {} cannot be written as JSON", type_name(value));
    out_ += to_text(value);
  }

 private:
  void write_list(const List& list, int depth) {
    if (list.empty()) return void(out_ += "[]");
    out_ += '[';
    for (size_t i = 0; i < list.size(); ++i) {
      between(i, depth + 1);
      write(list[i], depth + 1);
    }
    close(depth, ']');
  }
  void write_dict(const Dict& dict, int depth) {
    if (dict.empty()) return void(out_ += "{}");
    std::vector<const std::pair<Value, Value>*> members;
    for (const auto& member : dict) members.push_back(&member);
    if (style_.sort_keys)
      std::stable_sort(members.begin(), members.end(),
                       [](const auto* a, const auto* b) { return less(a->first, b->first); });
    out_ += '{';
    for (size_t i = 0; i < members.size(); ++i) {
      between(i, depth + 1);
      json_string(to_text(members[i]->first), out_);
      out_ += style_.colon;
      write(members[i]->second, depth + 1);
    }
    close(depth, '}');
  }
  void between(size_t index, int depth) {
    if (index > 0) {
      std::string_view comma = style_.comma;
      if (style_.indent >= 0 && comma == ", ") comma = ",";
      out_ += comma;
    }
    new_line(depth);
  }
  void close(int depth, char bracket) {
    new_line(depth);
    out_ += bracket;
  }
  void new_line(int depth) {
    if (style_.indent >= 0) out_.append("\n").append(static_cast<size_t>(style_.indent * depth), ' ');
  }

  const JsonStyle& style_;
  std::string& out_;
};

}  // namespace

int depth_around(int inner) {
  constexpr int kDeepest = 200;
  check(inner < kDeepest, "[chat template] values lie deeper than {} in one another", kDeepest);
  return inner + 1;
}

Value::Value(List list) {
  int inner = 0;
  for (const Value& item : list) inner = std::max(inner, item.depth());
  depth_ = depth_around(inner);
  variant_ = std::make_shared<const List>(std::move(list));
}

Value::Value(Dict dict) {
  int inner = 0;
  for (const auto& [key, item] : dict) inner = std::max({inner, key.depth(), item.depth()});
  depth_ = depth_around(inner);
  variant_ = std::make_shared<const Dict>(std::move(dict));
}

int Value::depth() const {
  if (const Namespace* held = space()) return held->depth;
  if (const Function* held = function()) return held->depth;
  return depth_;
}

Value Value::from_json(const nlohmann::ordered_json& json) {
  if (json.is_null()) return None{};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    List list;
    for (const auto& item : json) list.push_back(from_json(item));
    return list;
  }
  Dict dict;
  for (const auto& [key, item] : json.items()) dict.emplace_back(Value(key), from_json(item));
  return dict;
}

double Value::number() const {
  if (const bool* flag = boolean()) return *flag ? 1 : 0;
  if (const int64_t* whole = integer()) return static_cast<double>(*whole);
  return *decimal();
}

int64_t Value::whole() const {
  if (const bool* flag = boolean()) return *flag ? 1 : 0;
  return *integer();
}

bool Value::truth() const {
  if (is_undefined() || is_none()) return false;
  if (is_number()) return number() != 0;
  if (const auto* held = text()) return !held->empty();
  if (const auto* held = list()) return !held->empty();
  if (const auto* held = dict()) return !held->empty();
  return true;
}

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number())
    return a.is_whole() && b.is_whole() ? a.whole() == b.whole() : a.number() == b.number();
  if (a.text() && b.text()) return *a.text() == *b.text();
  if (a.list() && b.list())
    return std::equal(a.list()->begin(), a.list()->end(), b.list()->begin(), b.list()->end(), equal);
  if (a.dict() && b.dict()) {
    if (a.dict()->size() != b.dict()->size()) return false;
    return std::all_of(a.dict()->begin(), a.dict()->end(), [&](const auto& member) {
      const Value* other = find(*b.dict(), member.first);
      return other && equal(member.second, *other);
    });
  }
  if (a.space() || b.space()) return a.space() == b.space();
  if (a.function() || b.function()) return a.function() == b.function();
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

bool less(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number())
    return a.is_whole() && b.is_whole() ? a.whole() < b.whole() : a.number() < b.number();
  if (a.text() && b.text()) return *a.text() < *b.text();
  if (a.list() && b.list())
    return std::lexicographical_compare(a.list()->begin(), a.list()->end(), b.list()->begin(), b.list()->end(), less);
  fail("[chat template] {} and {} have no order", type_name(a), type_name(b));
}

const Value* find(const Dict& dict, const Value& key) {
  for (const auto& [name, value] : dict)
    if (equal(name, key)) return &value;
  return nullptr;
}

const Value* find(const Dict& dict, std::string_view key) {
  for (const auto& [name, value] : dict)
    if (name.text() && *name.text() == key) return &value;
  return nullptr;
}

void put(Dict& dict, const Value& key, Value value) {
  for (auto& [name, held] : dict)
    if (equal(name, key)) {
      held = std::move(value);
      return;
    }
  dict.emplace_back(key, std::move(value));
}

std::string_view type_name(const Value& value) {
  if (value.is_undefined()) return "undefined";
  if (value.is_none()) return "NoneType";
  if (value.boolean()) return "bool";
  if (value.integer()) return "int";
  if (value.decimal()) return "float";
  if (value.text()) return "str";
  if (value.list()) return "list";
  if (value.dict()) return "dict";
  return value.space() ? "namespace" : "function";
}

std::string to_text(const Value& value) { return value.text() ? *value.text() : to_quoted(value); }

std::string to_quoted(const Value& value) {
  if (value.is_undefined()) return "";
  if (value.is_none()) return "None";
  if (const bool* flag = value.boolean()) return *flag ? "True" : "False";
  if (const int64_t* whole = value.integer()) return fmt::format("{}", *whole);
  if (const double* decimal = value.decimal()) return decimal_text(*decimal);
  if (const auto* text = value.text()) return quoted(*text);
  std::string result;
  if (const List* list = value.list()) {
    for (const Value& item : *list) result.append(result.empty() ? "" : ", ").append(to_quoted(item));
    return '[' + result + ']';
  }
  if (const Dict* dict = value.dict()) {
    for (const auto& [key, item] : *dict)
      result.append(result.empty() ? "" : ", ").append(to_quoted(key)).append(": ").append(to_quoted(item));
    return '{' + result + '}';
  }
  return value.space() ? "<namespace>" : "<function " + value.function()->name + '>';
}

std::string to_json(const Value& value, const JsonStyle& style) {
  std::string out;
  JsonWriter(style, out).write(value, 0);
  return out;
}

}  // namespace limpid::jinja
