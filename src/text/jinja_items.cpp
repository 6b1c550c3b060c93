// The parts of values: attributes, items, slices.
#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "text/jinja_evaluator.h"
#include "text/jinja_lexer.h"
#include "text/utf8.h"

namespace limpid::jinja {

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
  check(!value.is_undefined(), "{}: a part is asked of something undefined", [&] { return place(node.line); });
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
  check(
      value.text() || value.list(), "{}: a {} cannot be cut", [&] { return place(node.line); }, type_name(value));
  const List items = items_of(value);
  spend(items.size() / 16);
  const auto count = static_cast<int64_t>(items.size());
  const auto part = [&](size_t child) -> std::optional<int64_t> {
    if (!node.children[child]) return std::nullopt;
    const Value at = evaluate(*node.children[child]);
    if (at.is_none()) return std::nullopt;
    check(
        at.is_whole(), "{}: a place is a {}, not a whole number", [&] { return place(node.line); }, type_name(at));
    return at.whole();
  };
  const std::optional<int64_t> from = part(1), to = part(2);
  const int64_t step = std::clamp<int64_t>(part(3).value_or(1), -count - 1, count + 1);
  check(step != 0, "{}: a step of zero", [&] { return place(node.line); });
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

}  // namespace limpid::jinja
