#pragma once
// The values that a chat template computes with: Python's, as far as templates use them.

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace limpid::jinja {

class Value;
struct Call;
using List = std::vector<Value>;
using Dict = std::vector<std::pair<Value, Value>>;  // in the order of their keys' arrival

struct Undefined {
  std::shared_ptr<const std::string> name = {};  // what was asked for
};
struct None {};
struct Namespace {  // namespace(…): the one thing that a loop can change outside itself
  Dict members;
  int depth = 1;
};
struct Function {
  std::string name;
  std::function<Value(Call&)> body;
  int depth = 0;  // of what it holds
};

class Value {
 public:
  using Variant = std::variant<Undefined, None, bool, int64_t, double, std::shared_ptr<const std::string>,
                               std::shared_ptr<const List>, std::shared_ptr<const Dict>, std::shared_ptr<Namespace>,
                               std::shared_ptr<const Function>>;
  Value() : variant_(None{}) {}
  Value(None) : variant_(None{}) {}
  Value(Undefined undefined) : variant_(std::move(undefined)) {}
  Value(bool value) : variant_(value) {}
  Value(int64_t value) : variant_(value) {}
  Value(double value) : variant_(value) {}
  Value(std::string text) : variant_(std::make_shared<const std::string>(std::move(text))) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  Value(List list);
  Value(Dict dict);
  Value(std::shared_ptr<Namespace> space) : variant_(std::move(space)) {}
  Value(Function function) : variant_(std::make_shared<const Function>(std::move(function))) {}
  static Value undefined(std::string_view name) { return Undefined{std::make_shared<const std::string>(name)}; }
  static Value from_json(const nlohmann::ordered_json& json);

  bool is_undefined() const { return std::holds_alternative<Undefined>(variant_); }
  bool is_none() const { return std::holds_alternative<None>(variant_); }
  const bool* boolean() const { return std::get_if<bool>(&variant_); }
  const int64_t* integer() const { return std::get_if<int64_t>(&variant_); }
  const double* decimal() const { return std::get_if<double>(&variant_); }
  const std::string* text() const { return pointed<const std::string>(); }
  const List* list() const { return pointed<const List>(); }
  const Dict* dict() const { return pointed<const Dict>(); }
  Namespace* space() const { return pointed<Namespace>(); }
  const Function* function() const { return pointed<const Function>(); }

  bool is_number() const { return boolean() || integer() || decimal(); }
  bool is_whole() const { return boolean() || integer(); }
  double number() const;  // of one
  int64_t whole() const;  // of one
  bool truth() const;
  int depth() const;  // of values in values: bounded, since they are compared, written and freed by recursion

 private:
  template <class T>
  T* pointed() const {
    const auto* held = std::get_if<std::shared_ptr<T>>(&variant_);
    return held ? held->get() : nullptr;
  }
  Variant variant_;
  int depth_ = 0;  // of a list or dict
};

// Throws where values would lie too deep in one another.
int depth_around(int inner);

// Python's ==, and its order, where there is one (else an Error).
bool equal(const Value& a, const Value& b);
bool less(const Value& a, const Value& b);

const Value* find(const Dict& dict, const Value& key);
const Value* find(const Dict& dict, std::string_view key);
void put(Dict& dict, const Value& key, Value value);

std::string_view type_name(const Value& value);  // as Python calls it
std::string to_text(const Value& value);         // str(value)
std::string to_quoted(const Value& value);       // repr(value)

struct JsonStyle {
  int indent = -1;  // -1: one line
  bool sort_keys = false;
  std::string comma = ", ", colon = ": ";
};
std::string to_json(const Value& value, const JsonStyle& style);

}  // namespace limpid::jinja
