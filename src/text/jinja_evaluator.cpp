#include "text/jinja_evaluator.h"

#include "base/error.h"
#include "base/json.h"
#include "text/jinja_lexer.h"

namespace limpid::jinja {

using Kind = Node::Kind;

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
    case Kind::negative: return negative(evaluate(*node.children[0]));
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

void Evaluator::fill(Call& call, const Node& node, size_t first) {
  for (size_t i = first; i < node.children.size(); ++i) call.values.push_back(evaluate(*node.children[i]));
  for (const auto& [name, value] : node.named) call.named.emplace_back(name, evaluate(*value));
}

Value Evaluator::call(const Node& node, const Value* caller) {
  const Value callee = evaluate(*node.children[0]);
  check(
      callee.function() != nullptr, "{}: {} is called, but is no function", [&] { return place(node.line); },
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

}  // namespace limpid::jinja
