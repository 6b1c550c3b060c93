#include "text/jinja_expression_parser.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/error.h"
#include "base/json.h"

namespace limpid::jinja {
namespace {

using Kind = Node::Kind;
constexpr int kDeepest = 100;

}  // namespace

ExpressionParser::Depth::Depth(ExpressionParser& parser) : parser_(parser) {
  if (++parser_.depth_ > kDeepest) parser_.wrong(fmt::format("parts lie deeper than {} in one another", kDeepest));
}

void ExpressionParser::wrong(const std::string& what) const { fail("{}: {}", place(now().line), what); }

NodePtr ExpressionParser::make(Kind kind) const {
  auto node = std::make_unique<Node>(Node{kind});
  node->line = now().line;
  return node;
}

bool ExpressionParser::take_sign(std::string_view sign) {
  const bool found = is_sign(sign);
  if (found) take();
  return found;
}

bool ExpressionParser::take_name(std::string_view name) {
  const bool found = is_name(name);
  if (found) take();
  return found;
}

void ExpressionParser::expect_sign(std::string_view sign) {
  if (!take_sign(sign)) wrong(fmt::format("\"{}\" is missing before {}", sign, in_quotes(now().value)));
}

std::string ExpressionParser::expect_name() {
  if (now().kind != Token::name) wrong(fmt::format("a name is missing before {}", in_quotes(now().value)));
  return take().value;
}

void ExpressionParser::expect(Token::Kind kind, const char* what) {
  if (now().kind != kind) wrong(fmt::format("{} is missing before {}", what, in_quotes(now().value)));
  take();
}

NodePtr ExpressionParser::expression(bool with_choice) {
  const Depth depth(*this);
  NodePtr value = logical_or();
  while (with_choice && take_name("if")) {
    NodePtr choice = make(Kind::choice);
    NodePtr condition = logical_or();
    NodePtr otherwise = take_name("else") ? expression() : nullptr;
    choice->children.push_back(std::move(condition));
    choice->children.push_back(std::move(value));
    choice->children.push_back(std::move(otherwise));
    value = std::move(choice);
  }
  return value;
}

NodePtr ExpressionParser::expression_or_list(bool with_choice) {
  NodePtr first = expression(with_choice);
  if (!is_sign(",")) return first;
  NodePtr list = make(Kind::list);
  list->children.push_back(std::move(first));
  while (take_sign(",")) {
    if (now().kind == Token::block_end || now().kind == Token::print_end || is_sign(")")) break;
    list->children.push_back(expression(with_choice));
  }
  return list;
}

NodePtr ExpressionParser::binary(std::string sign, NodePtr left, NodePtr right) const {
  NodePtr node = make(Kind::binary);
  node->name = std::move(sign);
  node->children.push_back(std::move(left));
  node->children.push_back(std::move(right));
  return node;
}

NodePtr ExpressionParser::logical_or() {
  NodePtr left = logical_and();
  while (take_name("or")) {
    NodePtr node = make(Kind::logical_or);
    node->children.push_back(std::move(left));
    node->children.push_back(logical_and());
    left = std::move(node);
  }
  return left;
}

NodePtr ExpressionParser::logical_and() {
  NodePtr left = logical_not();
  while (take_name("and")) {
    NodePtr node = make(Kind::logical_and);
    node->children.push_back(std::move(left));
    node->children.push_back(logical_not());
    left = std::move(node);
  }
  return left;
}

NodePtr ExpressionParser::logical_not() {
  const Depth depth(*this);
  if (!take_name("not")) return comparison();
  NodePtr node = make(Kind::logical_not);
  node->children.push_back(logical_not());
  return node;
}

NodePtr ExpressionParser::comparison() {
  NodePtr first = sum();
  NodePtr node;
  while (true) {
    std::string sign;
    if (now().kind == Token::sign && (now().value == "==" || now().value == "!=" || now().value == "<" ||
                                      now().value == ">" || now().value == "<=" || now().value == ">=")) {
      sign = take().value;
    } else if (take_name("in")) {
      sign = "in";
    } else if (is_name("not") && ahead(1).kind == Token::name && ahead(1).value == "in") {
      take();
      take();
      sign = "not in";
    } else {
      break;
    }
    if (!node) {
      node = make(Kind::compare);
      node->children.push_back(std::move(first));
    }
    node->names.push_back(std::move(sign));
    node->children.push_back(sum());
  }
  return node ? std::move(node) : std::move(first);
}

NodePtr ExpressionParser::sum() {
  NodePtr left = concatenation();
  while (is_sign("+") || is_sign("-")) {
    std::string sign = take().value;
    left = binary(std::move(sign), std::move(left), concatenation());
  }
  return left;
}

NodePtr ExpressionParser::concatenation() {
  NodePtr left = product();
  while (take_sign("~")) left = binary("~", std::move(left), product());
  return left;
}

NodePtr ExpressionParser::product() {
  NodePtr left = power();
  while (is_sign("*") || is_sign("/") || is_sign("//") || is_sign("%")) {
    std::string sign = take().value;
    left = binary(std::move(sign), std::move(left), power());
  }
  return left;
}

NodePtr ExpressionParser::power() {
  NodePtr left = unary();
  while (take_sign("**")) left = binary("**", std::move(left), unary());
  return left;
}

NodePtr ExpressionParser::unary(bool with_filters) {
  const Depth depth(*this);
  NodePtr value;
  if (is_sign("-") || is_sign("+")) {
    NodePtr node = make(is_sign("-") ? Kind::negative : Kind::positive);
    take();
    node->children.push_back(unary(false));
    value = std::move(node);
  } else {
    value = primary();
  }
  value = postfix(std::move(value));
  return with_filters ? filters_and_tests(std::move(value)) : std::move(value);
}

NodePtr ExpressionParser::primary() {
  NodePtr node = make(Kind::constant);
  const Token token = now();
  switch (token.kind) {
    case Token::name:
      take();
      if (token.value == "true" || token.value == "True") {
        node->value = true;
      } else if (token.value == "false" || token.value == "False") {
        node->value = false;
      } else if (token.value != "none" && token.value != "None") {
        node->kind = Kind::variable;
        node->name = token.value;
      }
      return node;
    case Token::text: {
      std::string text;
      while (now().kind == Token::text) text += take().value;
      node->value = std::move(text);
      return node;
    }
    case Token::integer: {
      take();
      int64_t whole = 0;
      const auto [end, error] = std::from_chars(token.value.data(), token.value.data() + token.value.size(), whole);
      if (error != std::errc()) wrong("the number " + token.value + " is too large");
      node->value = whole;
      return node;
    }
    case Token::decimal:
      take();
      node->value = std::strtod(token.value.c_str(), nullptr);
      return node;
    default: break;
  }
  if (take_sign("(")) {
    if (take_sign(")")) return make(Kind::list);
    NodePtr inside = expression_or_list();
    expect_sign(")");
    return inside;
  }
  if (take_sign("[")) return list("]");
  if (take_sign("{")) return dict();
  wrong(fmt::format("an expression is missing before {}", in_quotes(token.value)));
}

NodePtr ExpressionParser::list(const char* end) {
  NodePtr node = make(Kind::list);
  while (!take_sign(end)) {
    if (!node->children.empty()) {
      expect_sign(",");
      if (take_sign(end)) break;
    }
    node->children.push_back(expression());
  }
  return node;
}

NodePtr ExpressionParser::dict() {
  NodePtr node = make(Kind::dict);
  while (!take_sign("}")) {
    if (!node->children.empty()) {
      expect_sign(",");
      if (take_sign("}")) break;
    }
    node->children.push_back(expression());
    expect_sign(":");
    node->children.push_back(expression());
  }
  return node;
}

NodePtr ExpressionParser::postfix(NodePtr value) {
  while (true) {
    if (take_sign(".")) {
      NodePtr node = make(now().kind == Token::integer ? Kind::item : Kind::attribute);
      node->children.push_back(std::move(value));
      if (now().kind == Token::integer)
        node->children.push_back(primary());
      else
        node->name = expect_name();
      value = std::move(node);
    } else if (take_sign("[")) {
      value = subscript(std::move(value));
    } else if (take_sign("(")) {
      NodePtr node = make(Kind::call);
      node->children.push_back(std::move(value));
      arguments(*node);
      value = std::move(node);
    } else {
      return value;
    }
  }
}

NodePtr ExpressionParser::subscript(NodePtr value) {
  NodePtr node = make(Kind::item);
  node->children.push_back(std::move(value));
  bool slice = false;
  std::vector<NodePtr> parts(1);
  while (!take_sign("]")) {
    if (take_sign(":")) {
      slice = true;
      parts.emplace_back();
    } else {
      if (parts.back() || parts.size() > 3) wrong("a place in brackets has too many parts");
      parts.back() = expression();
    }
  }
  if (!slice && !parts[0]) wrong("a place in brackets is empty");
  if (parts.size() > 3) wrong("a place in brackets has too many parts");
  if (slice) {
    node->kind = Kind::slice;
    parts.resize(3);
  }
  for (NodePtr& part : parts) node->children.push_back(std::move(part));
  return node;
}

void ExpressionParser::arguments(Node& call) {
  bool first = true;
  while (!take_sign(")")) {
    if (!first) {
      expect_sign(",");
      if (take_sign(")")) return;
    }
    first = false;
    if (is_sign("*") || is_sign("**")) wrong("Limpid does not unpack arguments with *");
    if (now().kind == Token::name && ahead(1).kind == Token::sign && ahead(1).value == "=") {
      std::string name = take().value;
      take();
      call.named.emplace_back(std::move(name), expression());
    } else {
      if (!call.named.empty()) wrong("an argument without a name follows one with a name");
      call.children.push_back(expression());
    }
  }
}

NodePtr ExpressionParser::filters_and_tests(NodePtr value) {
  while (true) {
    if (take_sign("|"))
      value = filter(std::move(value));
    else if (take_name("is"))
      value = test(std::move(value));
    else if (is_sign("("))
      value = postfix(std::move(value));
    else
      return value;
  }
}

NodePtr ExpressionParser::filters(NodePtr value) {
  while (take_sign("|")) value = filter(std::move(value));
  return value;
}

NodePtr ExpressionParser::filter(NodePtr value) {
  NodePtr node = make(Kind::filter);
  node->name = expect_name();
  while (take_sign(".")) node->name += '.' + expect_name();
  node->children.push_back(std::move(value));
  if (take_sign("(")) arguments(*node);
  return node;
}

NodePtr ExpressionParser::test(NodePtr value) {
  NodePtr node = make(Kind::test);
  const bool negated = take_name("not");
  node->name = expect_name();
  node->children.push_back(std::move(value));
  const auto ends_test = [&] {
    for (const char* name : {"else", "or", "and", "if", "is", "in", "not"})
      if (is_name(name)) return true;
    return false;
  };
  if (take_sign("(")) {
    arguments(*node);
  } else if ((now().kind == Token::name && !ends_test()) || now().kind == Token::text || now().kind == Token::integer ||
             now().kind == Token::decimal || is_sign("[") || is_sign("{")) {
    node->children.push_back(postfix(primary()));
  }
  if (!negated) return node;
  NodePtr outer = make(Kind::logical_not);
  outer->children.push_back(std::move(node));
  return outer;
}

}  // namespace limpid::jinja
