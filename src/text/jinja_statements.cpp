// What a template's statements do: text, conditions, loops, assignments, macros.
#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "text/jinja_evaluator.h"
#include "text/jinja_lexer.h"

namespace limpid::jinja {
namespace {

using Kind = Node::Kind;

// A scope within the present one, for as long as it lives.
class Inside {
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

}  // namespace

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
  check(
      target.space() != nullptr, "{}: only what namespace() made can be changed, {} is none",
      [&] { return place(node.line); }, in_quotes(node.name));
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

}  // namespace limpid::jinja
