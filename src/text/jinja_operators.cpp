// The operators of expressions: arithmetic with Python's rules, text and lists, comparisons.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "text/jinja_evaluator.h"
#include "text/jinja_lexer.h"

namespace limpid::jinja {
namespace {

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

Value Evaluator::negative(const Value& value) { return arithmetic("-", int64_t{0}, value); }

Value Evaluator::binary(const Node& node) {
  const Value left = evaluate(*node.children[0]), right = evaluate(*node.children[1]);
  for (const Value* one : {&left, &right})
    check(
        node.name == "~" || !one->is_undefined(), "{}: something undefined stands beside {}",
        [&] { return place(node.line); }, node.name);
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
    check(
        count.is_whole(), "{}: {} * {} has no meaning", [&] { return place(node.line); }, type_name(left),
        type_name(right));
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

}  // namespace limpid::jinja
