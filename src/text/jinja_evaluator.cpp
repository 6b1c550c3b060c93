#include "text/jinja_evaluator.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "text/jinja_lexer.h"
#include "text/utf8.h"

namespace limpid::jinja {
namespace {

using Kind = Node::Kind;
constexpr int kDeepest = 200;

// What is between {} of one level of evaluation.
class Level {
 public:
  explicit Level(int& depth) : depth_(depth) {
    check(++depth_ <= kDeepest, "[chat template] calls lie deeper than {} in one another", kDeepest);
  }
  ~Level() { --depth_; }

 private:
  int& depth_;
};

class Inside {  // a scope within the present one
 public:
  explicit Inside(std::shared_ptr<Scope>& scope) : Inside(scope, scope) {}
  Inside(std::shared_ptr<Scope>& scope, std::shared_ptr<Scope> outer) : scope_(scope), before_(scope) {
    scope_ = std::make_shared<Scope>(Scope{std::move(outer)});
  }
  ~Inside() { scope_ = before_; }

 private:
  std::shared_ptr<Scope>& scope_;
  std::shared_ptr<Scope> before_;
};

void check_whole(bool fits) { check(fits, "[chat template] a whole number grows beyond 64 bits"); }

Value arithmetic(const std::string& sign, const Value& a, const Value& b) {
  check(a.is_number() && b.is_number(), "[chat template] {} {} {} has no meaning", type_name(a), sign, type_name(b));
  if (a.is_whole() && b.is_whole() && sign != "/") {
    const int64_t x = a.whole(), y = b.whole();
    int64_t result = 0;
    if (sign == "+") check_whole(!__builtin_add_overflow(x, y, &result));
    if (sign == "-") check_whole(!__builtin_sub_overflow(x, y, &result));
    if (sign == "*") check_whole(!__builtin_mul_overflow(x, y, &result));
    if (sign == "//" || sign == "%") {
      check(y != 0, "[chat template] a division by zero");
      check_whole(y != -1 || x != INT64_MIN);
      const int64_t quotient = x / y, rest = x % y;
      const bool down = rest != 0 && (rest < 0) != (y < 0);  // Python rounds down, C++ towards zero
      result = sign == "%" ? rest + (down ? y : 0) : quotient - (down ? 1 : 0);
    }
    if (sign == "**") {
      if (y < 0) return std::pow(static_cast<double>(x), static_cast<double>(y));
      result = 1;
      for (int64_t i = 0; i < y && (x != 1 && x != 0 && x != -1 ? true : i < 2 + y % 2); ++i)
        check_whole(!__builtin_mul_overflow(result, x, &result));
    }
    return result;
  }
  const double x = a.number(), y = b.number();
  if (sign == "+") return x + y;
  if (sign == "-") return x - y;
  if (sign == "*") return x * y;
  if (sign == "**") return std::pow(x, y);
  check(y != 0, "[chat template] a division by zero");
  if (sign == "/") return x / y;
  return sign == "//" ? std::floor(x / y) : x - std::floor(x / y) * y;
}

}  // namespace

std::optional<Value> Call::argument(size_t index, std::string_view name) const {
  if (index < values.size()) return values[index];
  for (const auto& [keyword, value] : named)
    if (keyword == name) return value;
  return std::nullopt;
}

const Value& Call::needed(size_t index, std::string_view name) const {
  if (index < values.size()) return values[index];
  for (const auto& [keyword, value] : named)
    if (keyword == name) return value;
  fail("[chat template] {} lacks its argument \"{}\"", function, name);
}

void Evaluator::spend_from(size_t& left, size_t amount, const char* what) {
  check(amount <= left, "[chat template] takes more {} than a template may: is it one?", what);
  left -= amount;
}

void Evaluator::spend_on(const Value& value) {
  if (const auto* text = value.text()) hold(text->size());
  if (const auto* list = value.list()) hold(list->size() * sizeof(Value));
  if (const auto* dict = value.dict()) hold(dict->size() * 2 * sizeof(Value));
}

std::string Evaluator::render(const Node& root) {
  std::string out;
  run(root, out);
  return out;
}

Evaluator::Flow Evaluator::run(const Node& node, std::string& out) {
  spend(1);
  const Level level(depth_);
  const auto write = [&](const std::string& text) {
    hold(text.size());
    out += text;
  };
  switch (node.kind) {
    case Kind::block:
      for (const NodePtr& child : node.children)
        if (const Flow flow = run(*child, out); flow != Flow::next) return flow;
      return Flow::next;
    case Kind::text: write(*node.value.text()); return Flow::next;
    case Kind::print: write(to_text(evaluate(*node.children[0]))); return Flow::next;
    case Kind::if_block: {
      size_t i = 0;
      for (; i + 1 < node.children.size(); i += 2)
        if (evaluate(*node.children[i]).truth()) return run(*node.children[i + 1], out);
      return i < node.children.size() ? run(*node.children[i], out) : Flow::next;
    }
    case Kind::for_loop: return run_loop(node, out);
    case Kind::set: run_set(node); return Flow::next;
    case Kind::set_block: {
      Value value = captured(*node.children[0]);
      if (node.children[1]) value = filter(*node.children[1], &value);
      scope_->variables[node.names[0]] = std::move(value);
      return Flow::next;
    }
    case Kind::macro: scope_->variables[node.name] = macro_of(node, scope_, node.name); return Flow::next;
    case Kind::call_block: {
      const Value caller = macro_of(node, scope_, "caller");
      write(to_text(call(*node.children[0], &caller)));
      return Flow::next;
    }
    case Kind::filter_block: {
      const Value input = captured(*node.children[1]);
      write(to_text(filter(*node.children[0], &input)));
      return Flow::next;
    }
    case Kind::with: {
      std::vector<Value> values;
      for (const auto& [name, value] : node.named) values.push_back(evaluate(*value));
      const Inside inside(scope_);
      for (size_t i = 0; i < values.size(); ++i) scope_->variables[node.named[i].first] = std::move(values[i]);
      return run(*node.children[0], out);
    }
    case Kind::break_loop: return Flow::break_loop;
    case Kind::continue_loop: return Flow::continue_loop;
    default: fail("{}: an expression stands where a statement should", place(node.line));
  }
}

std::string Evaluator::captured(const Node& body) {
  const Inside inside(scope_);
  std::string out;
  run(body, out);
  return out;
}

void Evaluator::assign(const std::vector<std::string>& names, const Value& value) {
  if (names.size() == 1) {
    scope_->variables[names[0]] = value;
    return;
  }
  const List items = items_of(value);
  check(items.size() == names.size(), "[chat template] {} values for {} names", items.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) scope_->variables[names[i]] = items[i];
}

Evaluator::Flow Evaluator::run_loop(const Node& node, std::string& out) {
  List items = items_of(evaluate(*node.children[0]));
  hold(items.size() * sizeof(Value));
  if (const Node* condition = node.children[1].get()) {
    List kept;
    for (const Value& item : items) {
      const Inside inside(scope_);
      assign(node.names, item);
      if (evaluate(*condition).truth()) kept.push_back(item);
    }
    items = std::move(kept);
  }
  if (items.empty()) return node.children[3] ? run(*node.children[3], out) : Flow::next;
  const auto count = static_cast<int64_t>(items.size());
  const auto seen = std::make_shared<Value>(Value::undefined("changed"));
  for (int64_t i = 0; i < count; ++i) {
    const Inside inside(scope_);
    assign(node.names, items[static_cast<size_t>(i)]);
    const auto neighbour = [&](int64_t at, const char* name) {
      return at >= 0 && at < count ? items[static_cast<size_t>(at)] : Value::undefined(name);
    };
    auto loop = std::make_shared<Namespace>();
    loop->members = {{"index", i + 1},
                     {"index0", i},
                     {"revindex", count - i},
                     {"revindex0", count - i - 1},
                     {"first", i == 0},
                     {"last", i + 1 == count},
                     {"length", count},
                     {"depth", int64_t{1}},
                     {"depth0", int64_t{0}},
                     {"previtem", neighbour(i - 1, "loop.previtem")},
                     {"nextitem", neighbour(i + 1, "loop.nextitem")},
                     {"cycle", Function{"cycle",
                                        [i](Call& call) {
                                          check(!call.values.empty(), "[chat template] cycle wants values");
                                          return call.values[static_cast<size_t>(i) % call.values.size()];
                                        }}},
                     {"changed", Function{"changed", [seen](Call& call) {
                                            Value now = List(call.values);
                                            const bool differs = !equal(now, *seen);
                                            *seen = std::move(now);
                                            return Value(differs);
                                          }}}};
    scope_->variables["loop"] = Value(loop);
    if (run(*node.children[2], out) == Flow::break_loop) break;
  }
  return Flow::next;
}

void Evaluator::run_set(const Node& node) {
  Value value = evaluate(*node.children[0]);
  if (node.name.empty()) return assign(node.names, value);
  const Value target = [&] {
    for (const Scope* scope = scope_.get(); scope; scope = scope->outer.get())
      if (const auto found = scope->variables.find(node.name); found != scope->variables.end()) return found->second;
    return Value();
  }();
  check(target.space() != nullptr, "{}: only what namespace() made can be changed, {} is none", place(node.line),
        in_quotes(node.name));
  Namespace& space = *target.space();
  space.depth = std::max(space.depth, depth_around(value.depth()));
  put(space.members, Value(node.names[0]), std::move(value));
}

Value Evaluator::macro_of(const Node& node, const std::shared_ptr<Scope>& scope, const std::string& name) {
  // The scope holds the macro, so the macro must not hold the scope.
  return Function{name, [this, &node, weak = std::weak_ptr<Scope>(scope), name](Call& call) {
                    const auto around = weak.lock();
                    check(around != nullptr, "[chat template] the macro {} is called outside its block",
                          in_quotes(name));
                    const Inside inside(scope_, around);
                    for (size_t i = 0; i < node.names.size(); ++i) {
                      const std::string& parameter = node.names[i];
                      std::optional<Value> value = call.argument(i, parameter);
                      for (const auto& [named, otherwise] : node.named)
                        if (!value && named == parameter) value = evaluate(*otherwise);
                      scope_->variables[parameter] = value.value_or(Value::undefined(parameter));
                    }
                    for (const auto& [keyword, value] : call.named)
                      if (keyword == "caller") scope_->variables["caller"] = value;
                    std::string out;
                    run(*node.children.back(), out);
                    return Value(std::move(out));
                  }};
}

Value Evaluator::evaluate(const Node& node) {
  spend(1);
  const Level level(depth_);
  switch (node.kind) {
    case Kind::constant: return node.value;
    case Kind::variable: return variable(node);
    case Kind::list: {
      List list;
      for (const NodePtr& child : node.children) list.push_back(evaluate(*child));
      return list;
    }
    case Kind::dict: {
      Dict dict;
      for (size_t i = 0; i < node.children.size(); i += 2) {
        const Value key = evaluate(*node.children[i]);
        put(dict, key, evaluate(*node.children[i + 1]));
      }
      return dict;
    }
    case Kind::attribute: return attribute(evaluate(*node.children[0]), node.name);
    case Kind::item: return item(node);
    case Kind::slice: return slice(node);
    case Kind::call: return call(node);
    case Kind::filter: return filter(node);
    case Kind::test: return test(node);
    case Kind::negative: return arithmetic("-", int64_t{0}, evaluate(*node.children[0]));
    case Kind::positive: return evaluate(*node.children[0]);
    case Kind::logical_not: return !evaluate(*node.children[0]).truth();
    case Kind::logical_and: {
      Value left = evaluate(*node.children[0]);
      return left.truth() ? evaluate(*node.children[1]) : left;
    }
    case Kind::logical_or: {
      Value left = evaluate(*node.children[0]);
      return left.truth() ? left : evaluate(*node.children[1]);
    }
    case Kind::binary: return binary(node);
    case Kind::compare: return compare(node);
    case Kind::choice:
      if (evaluate(*node.children[0]).truth()) return evaluate(*node.children[1]);
      return node.children[2] ? evaluate(*node.children[2]) : Value::undefined("else");
    default: fail("{}: a statement stands where an expression should", place(node.line));
  }
}

Value Evaluator::variable(const Node& node) {
  for (const Scope* scope = scope_.get(); scope; scope = scope->outer.get())
    if (const auto found = scope->variables.find(node.name); found != scope->variables.end()) return found->second;
  return Value::undefined(node.name);
}

Value Evaluator::attribute(const Value& value, std::string_view name) {
  check(!value.is_undefined(), "[chat template] {} is asked of something undefined", in_quotes(name));
  if (const auto method = find_method(value, name)) return *method;
  const Dict* dict = value.space() ? &value.space()->members : value.dict();
  if (dict) {
    spend(dict->size() / 16);
    if (const Value* found = find(*dict, name)) return *found;
  }
  return Value::undefined(name);
}

Value Evaluator::item(const Node& node) {
  const Value value = evaluate(*node.children[0]), key = evaluate(*node.children[1]);
  check(!value.is_undefined(), "{}: a part is asked of something undefined", place(node.line));
  if (const Dict* dict = value.dict()) {
    spend(dict->size() / 16);
    if (const Value* found = find(*dict, key)) return *found;
  }
  const int64_t length = length_of(value);
  if (key.is_whole() && length >= 0 && !value.dict()) {
    const int64_t at = key.whole() < 0 ? key.whole() + length : key.whole();
    if (at < 0 || at >= length) return Value::undefined("item");
    spend(value.text() ? static_cast<size_t>(length) / 16 : 0);
    return items_of(value)[static_cast<size_t>(at)];
  }
  return key.text() ? attribute(value, *key.text()) : Value::undefined("item");
}

Value Evaluator::slice(const Node& node) {
  const Value value = evaluate(*node.children[0]);
  check(value.text() || value.list(), "{}: a {} cannot be cut", place(node.line), type_name(value));
  const List items = items_of(value);
  spend(items.size() / 16);
  const auto count = static_cast<int64_t>(items.size());
  const auto part = [&](size_t child) -> std::optional<int64_t> {
    if (!node.children[child]) return std::nullopt;
    const Value at = evaluate(*node.children[child]);
    if (at.is_none()) return std::nullopt;
    check(at.is_whole(), "{}: a place is a {}, not a whole number", place(node.line), type_name(at));
    return at.whole();
  };
  const std::optional<int64_t> from = part(1), to = part(2);
  const int64_t step = std::clamp<int64_t>(part(3).value_or(1), -count - 1, count + 1);
  check(step != 0, "{}: a step of zero", place(node.line));
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? count : count - 1;
  const auto bound = [&](int64_t at) { return std::clamp(at < 0 ? std::max(at, -count - 1) + count : at, low, high); };
  const int64_t begin = from ? bound(*from) : (step > 0 ? 0 : count - 1),
                end = to ? bound(*to) : (step > 0 ? count : -1);
  List kept;
  for (int64_t i = begin; step > 0 ? i < end : i > end; i += step) kept.push_back(items[static_cast<size_t>(i)]);
  if (value.list()) return kept;
  std::string text;
  for (const Value& one : kept) text += *one.text();
  return text;
}

void Evaluator::fill(Call& call, const Node& node, size_t first) {
  for (size_t i = first; i < node.children.size(); ++i) call.values.push_back(evaluate(*node.children[i]));
  for (const auto& [name, value] : node.named) call.named.emplace_back(name, evaluate(*value));
}

Value Evaluator::call(const Node& node, const Value* caller) {
  const Value callee = evaluate(*node.children[0]);
  check(callee.function() != nullptr, "{}: {} is called, but is no function", place(node.line),
        in_quotes(node.children[0]->name.empty() ? type_name(callee) : std::string_view(node.children[0]->name)));
  Call call{*this, {}};
  call.function = callee.function()->name;
  fill(call, node, 1);
  if (caller) call.named.emplace_back("caller", *caller);
  Value result = callee.function()->body(call);
  spend_on(result);
  return result;
}

Value Evaluator::filter(const Node& node, const Value* input) {
  // A chain around a block ends in a filter without a value of its own: the block's text.
  const Node* inner = node.children[0].get();
  Call call{*this, {}};
  call.values.push_back(!inner                                 ? *input
                        : inner->kind == Kind::filter && input ? filter(*inner, input)
                                                               : evaluate(*inner));
  fill(call, node, 1);
  return apply_filter(node.name, call);
}

Value Evaluator::apply_filter(const std::string& name, Call& call) {
  const Builtin found = find_filter(name);
  check(found != nullptr, "[chat template] Limpid does not know the filter {}", in_quotes(name));
  call.function = name;
  Value result = found(call);
  spend_on(result);
  return result;
}

bool Evaluator::test(const Node& node) {
  Call call{*this, {}};
  call.values.push_back(evaluate(*node.children[0]));
  fill(call, node, 1);
  return apply_test(node.name, call);
}

bool Evaluator::apply_test(const std::string& name, Call& call) {
  const BuiltinTest found = find_test(name);
  check(found != nullptr, "[chat template] Limpid does not know the test {}", in_quotes(name));
  call.function = name;
  return found(call);
}

Value Evaluator::binary(const Node& node) {
  const Value left = evaluate(*node.children[0]), right = evaluate(*node.children[1]);
  for (const Value* one : {&left, &right})
    check(node.name == "~" || !one->is_undefined(), "{}: something undefined stands beside {}", place(node.line),
          node.name);
  Value result;
  if (node.name == "~") {
    result = to_text(left) + to_text(right);
  } else if (node.name == "+" && left.text() && right.text()) {
    result = *left.text() + *right.text();
  } else if (node.name == "+" && left.list() && right.list()) {
    List joined = *left.list();
    joined.insert(joined.end(), right.list()->begin(), right.list()->end());
    result = std::move(joined);
  } else if (node.name == "*" && (left.text() || left.list() || right.text() || right.list())) {
    const bool first = left.text() || left.list();
    const Value &many = first ? left : right, &count = first ? right : left;
    check(count.is_whole(), "{}: {} * {} has no meaning", place(node.line), type_name(left), type_name(right));
    const auto times = static_cast<size_t>(std::clamp<int64_t>(count.whole(), 0, 1 << 30));
    const size_t size = many.text() ? many.text()->size() : many.list()->size() * sizeof(Value);
    hold(times * std::max<size_t>(size, 1));
    std::string text;
    List list;
    for (size_t i = 0; i < times; ++i)
      if (many.text())
        text += *many.text();
      else
        list.insert(list.end(), many.list()->begin(), many.list()->end());
    result = many.text() ? Value(std::move(text)) : Value(std::move(list));
  } else {
    return arithmetic(node.name, left, right);
  }
  spend_on(result);
  return result;
}

bool Evaluator::compare(const Node& node) {
  Value left = evaluate(*node.children[0]);
  for (size_t i = 0; i < node.names.size(); ++i) {
    Value right = evaluate(*node.children[i + 1]);
    const std::string& sign = node.names[i];
    bool holds = false;
    if (sign == "==")
      holds = equal(left, right);
    else if (sign == "!=")
      holds = !equal(left, right);
    else if (sign == "<")
      holds = less(left, right);
    else if (sign == ">")
      holds = less(right, left);
    else if (sign == "<=")
      holds = !less(right, left);
    else if (sign == ">=")
      holds = !less(left, right);
    else
      holds = contains(right, left) == (sign == "in");
    if (!holds) return false;
    left = std::move(right);
  }
  return true;
}

List items_of(const Value& value) {
  if (const List* list = value.list()) return *list;
  List items;
  if (value.is_undefined()) return items;
  if (const Dict* dict = value.dict()) {
    for (const auto& member : *dict) items.push_back(member.first);
    return items;
  }
  check(value.text() != nullptr, "[chat template] a {} has no items to go through", type_name(value));
  each_code_point(*value.text(), [&](char32_t, std::string_view bytes) { items.emplace_back(bytes); });
  return items;
}

int64_t length_of(const Value& value) {
  if (const List* list = value.list()) return static_cast<int64_t>(list->size());
  if (const Dict* dict = value.dict()) return static_cast<int64_t>(dict->size());
  if (!value.text()) return value.is_undefined() ? 0 : -1;
  return std::count_if(value.text()->begin(), value.text()->end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace limpid::jinja
