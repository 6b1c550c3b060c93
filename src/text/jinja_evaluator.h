#pragma once
// Runs the tree of a template. What it may cost is bounded: a template comes from a file that nobody has read.

#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "text/jinja_parser.h"

namespace limpid::jinja {

class Evaluator;

// What a function, filter, test or method was called with.
struct Call {
  Evaluator& evaluator;
  List values;                                            // of a filter, test or method the value itself comes first
  std::vector<std::pair<std::string, Value>> named = {};  // by keyword

  // The argument at a place or of a name; none where it was left out. An Error names the function where it is missing.
  std::optional<Value> argument(size_t index, std::string_view name) const;
  const Value& needed(size_t index, std::string_view name) const;
  std::string function = {};  // for messages
};

// Variables by name; a scope sees those around it.
struct Scope {
  std::shared_ptr<Scope> outer;
  std::map<std::string, Value, std::less<>> variables = {};
};

class Evaluator {
 public:
  explicit Evaluator(std::shared_ptr<Scope> globals) : scope_(std::move(globals)) {}

  std::string render(const Node& root);

  // For filters that take others by name ("map", "select") and for functions.
  Value apply_filter(const std::string& name, Call& call);
  bool apply_test(const std::string& name, Call& call);
  Value attribute(const Value& value, std::string_view name);
  // Counts work and memory against what a template may take.
  void spend(size_t steps) { spend_from(steps_, steps, "steps"); }
  void hold(size_t bytes) { spend_from(bytes_, bytes, "bytes"); }
  void spend_on(const Value& value);  // for its size

 private:
  enum class Flow { next, break_loop, continue_loop };
  // One level of evaluation inside another: so deep may they lie.
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) {
      check(++depth_ <= kDeepest, "[chat template] calls lie deeper than {} in one another", kDeepest);
    }
    ~Level() { --depth_; }

   private:
    static constexpr int kDeepest = 200;
    int& depth_;
  };
  static void spend_from(size_t& left, size_t amount, const char* what);

  // jinja_statements.cpp
  Flow run(const Node& node, std::string& out);
  Flow run_loop(const Node& node, std::string& out);
  void run_set(const Node& node);
  std::string captured(const Node& body);
  Value macro_of(const Node& node, const std::shared_ptr<Scope>& scope, const std::string& name);
  void assign(const std::vector<std::string>& names, const Value& value);

  // jinja_evaluator.cpp
  Value evaluate(const Node& node);
  Value variable(const Node& node);
  Value call(const Node& node, const Value* caller = nullptr);
  Value filter(const Node& node, const Value* input = nullptr);
  bool test(const Node& node);
  void fill(Call& call, const Node& node, size_t first);

  // jinja_items.cpp
  Value item(const Node& node);
  Value slice(const Node& node);

  // jinja_operators.cpp
  static Value negative(const Value& value);
  Value binary(const Node& node);
  bool compare(const Node& node);

  std::shared_ptr<Scope> scope_;
  size_t steps_ = 2'000'000, bytes_ = 64 << 20;
  int depth_ = 0;
};

// The items that a loop or a filter goes through.
List items_of(const Value& value);
int64_t length_of(const Value& value);  // characters, items or members; -1: it has none

// jinja_filters.cpp, jinja_tests.cpp, jinja_methods.cpp
using Builtin = Value (*)(Call&);
Builtin find_filter(std::string_view name);
using BuiltinTest = bool (*)(Call&);
BuiltinTest find_test(std::string_view name);
std::optional<Value> find_method(const Value& value, std::string_view name);  // bound to the value
bool contains(const Value& container, const Value& item);

}  // namespace limpid::jinja
