// The filters of Jinja that chat templates use, and Hugging Face's own tojson.

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "text/jinja_evaluator.h"
#include "text/jinja_text.h"
#include "text/utf8.h"

namespace limpid::jinja {
namespace {

const Value& input(const Call& call) { return call.values[0]; }
std::string text_of(const Call& call) { return to_text(input(call)); }
std::string text_argument(const Call& call, size_t index, const char* name, const char* otherwise) {
  const auto found = call.argument(index, name);
  return found ? to_text(*found) : otherwise;
}
int64_t whole_argument(const Call& call, size_t index, const char* name, int64_t otherwise) {
  const auto found = call.argument(index, name);
  if (!found || found->is_none()) return otherwise;
  check(found->is_whole(), "[chat template] {}: \"{}\" is a {}, not a whole number", call.function, name,
        type_name(*found));
  return found->whole();
}
bool flag_argument(const Call& call, size_t index, const char* name, bool otherwise) {
  const auto found = call.argument(index, name);
  return found ? found->truth() : otherwise;
}

// "a.b" or "0" of an item.
Value member(Call& call, const Value& item, const Value& name) {
  if (name.is_whole()) {
    const List items = items_of(item);
    const auto at = static_cast<size_t>(name.whole());
    return at < items.size() ? items[at] : Value::undefined("item");
  }
  Value value = item;
  for (const std::string& part : split_text(to_text(name), ".", -1, false))
    value = value.is_undefined() ? value : call.evaluator.attribute(value, part);
  return value;
}

// The rest of a call's arguments, for the filter or test that it names.
Call passed_on(const Call& call, const Value& item, size_t first) {
  Call next{call.evaluator, {item}};
  for (size_t i = first; i < call.values.size(); ++i) next.values.push_back(call.values[i]);
  return next;
}

Value map(Call& call) {
  List result;
  const auto attribute = [&]() -> std::optional<Value> {
    for (const auto& [name, value] : call.named)
      if (name == "attribute") return value;
    return std::nullopt;
  }();
  const std::optional<Value> otherwise = attribute ? call.argument(99, "default") : std::nullopt;
  for (const Value& item : items_of(input(call))) {
    call.evaluator.spend(1);
    if (attribute) {
      Value value = member(call, item, *attribute);
      result.push_back(value.is_undefined() && otherwise ? *otherwise : std::move(value));
    } else {
      Call next = passed_on(call, item, 2);
      next.named = call.named;
      result.push_back(call.evaluator.apply_filter(to_text(call.needed(1, "filter")), next));
    }
  }
  return result;
}

template <bool wanted, bool by_attribute>
Value select(Call& call) {
  List result;
  constexpr size_t test_at = by_attribute ? 2 : 1;
  for (const Value& item : items_of(input(call))) {
    call.evaluator.spend(1);
    const Value value = by_attribute ? member(call, item, call.needed(1, "attribute")) : item;
    bool holds = value.truth();
    if (call.values.size() > test_at) {
      Call next = passed_on(call, value, test_at + 1);
      holds = call.evaluator.apply_test(to_text(call.values[test_at]), next);
    }
    if (holds == wanted) result.push_back(item);
  }
  return result;
}

Value default_value(Call& call) {
  const bool missing = input(call).is_undefined() || (flag_argument(call, 2, "boolean", false) && !input(call).truth());
  return missing ? call.argument(1, "default_value").value_or("") : input(call);
}

Value tojson(Call& call) {
  JsonStyle style;
  style.indent = static_cast<int>(std::clamp<int64_t>(whole_argument(call, 2, "indent", -1), -1, 16));
  style.sort_keys = flag_argument(call, 4, "sort_keys", false);
  if (const auto separators = call.argument(3, "separators"); separators && separators->list()) {
    check(separators->list()->size() == 2, "[chat template] tojson wants two separators");
    style.comma = to_text(separators->list()->at(0));
    style.colon = to_text(separators->list()->at(1));
  }
  return to_json(input(call), style);
}

Value join(Call& call) {
  const std::string separator = text_argument(call, 1, "d", "");
  const auto attribute = call.argument(2, "attribute");
  std::string text;
  bool first = true;
  for (const Value& item : items_of(input(call))) {
    if (!first) text += separator;
    first = false;
    text += to_text(attribute ? member(call, item, *attribute) : item);
    call.evaluator.spend(1 + text.size() / (1 << 20));
  }
  return text;
}

Value length(Call& call) {
  const int64_t count = length_of(input(call));
  check(count >= 0, "[chat template] a {} has no length", type_name(input(call)));
  return count;
}

Value indent(Call& call) {
  const auto width = call.argument(1, "width");
  const std::string space =
      width && width->text()
          ? *width->text()
          : std::string(static_cast<size_t>(std::clamp<int64_t>(whole_argument(call, 1, "width", 4), 0, 200)), ' ');
  const bool first = flag_argument(call, 2, "first", false), blank = flag_argument(call, 3, "blank", false);
  std::string result;
  const std::vector<std::string> lines = split_text(text_of(call), "\n", -1, false);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) result += '\n';
    if ((i > 0 || first) && (blank || !lines[i].empty())) result += space;
    result += lines[i];
  }
  return result;
}

Value to_int(Call& call) {
  const Value& value = input(call);
  if (value.is_whole()) return value.whole();
  if (value.decimal() && std::abs(*value.decimal()) < 9e18) return static_cast<int64_t>(*value.decimal());
  const std::string text = stripped(text_of(call), {}, true, true);
  int64_t whole = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size()) return whole;
  char* rest = nullptr;
  const double decimal = std::strtod(text.c_str(), &rest);
  if (!text.empty() && *rest == '\0' && std::abs(decimal) < 9e18) return static_cast<int64_t>(decimal);
  return whole_argument(call, 1, "default", 0);
}

Value to_float(Call& call) {
  if (input(call).is_number()) return input(call).number();
  const std::string text = stripped(text_of(call), {}, true, true);
  char* rest = nullptr;
  const double decimal = std::strtod(text.c_str(), &rest);
  if (!text.empty() && *rest == '\0') return decimal;
  return call.argument(1, "default").value_or(0.0);
}

Value round_number(Call& call) {
  check(input(call).is_number(), "[chat template] a {} cannot be rounded", type_name(input(call)));
  const auto digits = static_cast<double>(std::clamp<int64_t>(whole_argument(call, 1, "precision", 0), -15, 15));
  const std::string method = text_argument(call, 2, "method", "common");
  const double unit = std::pow(10.0, digits), x = input(call).number() * unit;
  return (method == "ceil" ? std::ceil(x) : method == "floor" ? std::floor(x) : std::nearbyint(x)) / unit;
}

Value sorted(Call& call) {
  List items = items_of(input(call));
  call.evaluator.spend(items.size() * 8);
  const bool with_case = flag_argument(call, 2, "case_sensitive", false);
  const auto attribute = call.argument(3, "attribute");
  const auto key = [&](const Value& item) {
    Value value = attribute ? member(call, item, *attribute) : item;
    return !with_case && value.text() ? Value(lower_case(*value.text())) : value;
  };
  std::stable_sort(items.begin(), items.end(), [&](const Value& a, const Value& b) { return less(key(a), key(b)); });
  if (flag_argument(call, 1, "reverse", false)) std::reverse(items.begin(), items.end());
  return items;
}

List pairs_of(const Value& value) {
  List pairs;
  if (value.is_undefined()) return pairs;
  check(value.dict() != nullptr, "[chat template] a {} has no members", type_name(value));
  for (const auto& [key, held] : *value.dict()) pairs.emplace_back(List{key, held});
  return pairs;
}

Value dictsort(Call& call) {
  List pairs = pairs_of(input(call));
  call.evaluator.spend(pairs.size() * 8);
  const bool with_case = flag_argument(call, 1, "case_sensitive", false);
  const size_t by = text_argument(call, 2, "by", "key") == "value" ? 1 : 0;
  const auto key = [&](const Value& pair) {
    const Value& value = (*pair.list())[by];
    return !with_case && value.text() ? Value(lower_case(*value.text())) : value;
  };
  std::stable_sort(pairs.begin(), pairs.end(), [&](const Value& a, const Value& b) { return less(key(a), key(b)); });
  if (flag_argument(call, 3, "reverse", false)) std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

Value unique(Call& call) {
  List kept;
  for (const Value& item : items_of(input(call))) {
    call.evaluator.spend(1 + kept.size());
    const auto same = [&](const Value& one) {
      return item.text() && one.text() ? lower_case(*item.text()) == lower_case(*one.text()) : equal(item, one);
    };
    if (std::none_of(kept.begin(), kept.end(), same)) kept.push_back(item);
  }
  return kept;
}

Value reversed(Call& call) {
  List items = items_of(input(call));
  std::reverse(items.begin(), items.end());
  if (!input(call).text()) return items;
  std::string text;
  for (const Value& item : items) text += *item.text();
  return text;
}

template <bool largest>
Value extreme(Call& call) {
  const List items = items_of(input(call));
  if (items.empty()) return Value::undefined("item");
  return largest ? *std::max_element(items.begin(), items.end(), less)
                 : *std::min_element(items.begin(), items.end(), less);
}

Value sum(Call& call) {
  const auto attribute = call.argument(1, "attribute");
  int64_t whole = 0;
  double decimal = 0;
  bool decimals = false;
  for (const Value& item : items_of(input(call))) {
    const Value value = attribute ? member(call, item, *attribute) : item;
    check(value.is_number(), "[chat template] a {} cannot be added up", type_name(value));
    if (value.is_whole())
      check(!__builtin_add_overflow(whole, value.whole(), &whole), "[chat template] a sum beyond 64 bits");
    else
      decimals = true, decimal += *value.decimal();
  }
  return decimals ? Value(decimal + static_cast<double>(whole)) : Value(whole);
}

Value first(Call& call) {
  const List items = items_of(input(call));
  return items.empty() ? Value::undefined("first") : items.front();
}
Value last(Call& call) {
  const List items = items_of(input(call));
  return items.empty() ? Value::undefined("last") : items.back();
}

Value escape(Call& call) {
  std::string result;
  for (const char c : text_of(call)) switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&#34;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  return result;
}

Value replace(Call& call) {
  const std::string text = text_of(call), what = to_text(call.needed(1, "old")), by = to_text(call.needed(2, "new"));
  call.evaluator.hold(text.size() * (by.size() + 1) / std::max<size_t>(what.size(), 1));
  return replaced_all(text, what, by, whole_argument(call, 3, "count", -1));
}

Value absolute(Call& call) {
  check(input(call).is_number(), "[chat template] a {} has no absolute value", type_name(input(call)));
  return input(call).is_whole() ? Value(std::abs(input(call).whole())) : Value(std::abs(input(call).number()));
}

Value trim(Call& call) { return stripped(text_of(call), text_argument(call, 1, "chars", ""), true, true); }
Value upper(Call& call) { return upper_case(text_of(call)); }
Value lower(Call& call) { return lower_case(text_of(call)); }
Value title(Call& call) { return titled(text_of(call)); }
Value capitalize(Call& call) { return capitalized(text_of(call)); }
Value list(Call& call) { return items_of(input(call)); }
Value string(Call& call) { return text_of(call); }
Value items(Call& call) { return pairs_of(input(call)); }
Value same(Call& call) { return input(call); }
Value wordcount(Call& call) { return static_cast<int64_t>(split_text(text_of(call), {}, -1, false).size()); }

struct Named {
  std::string_view name;
  Builtin filter;
};
constexpr std::array kFilters = {Named{"abs", absolute},
                                 Named{"capitalize", capitalize},
                                 Named{"count", length},
                                 Named{"d", default_value},
                                 Named{"default", default_value},
                                 Named{"dictsort", dictsort},
                                 Named{"e", escape},
                                 Named{"escape", escape},
                                 Named{"first", first},
                                 Named{"float", to_float},
                                 Named{"indent", indent},
                                 Named{"int", to_int},
                                 Named{"items", items},
                                 Named{"join", join},
                                 Named{"last", last},
                                 Named{"length", length},
                                 Named{"list", list},
                                 Named{"lower", lower},
                                 Named{"map", map},
                                 Named{"max", extreme<true>},
                                 Named{"min", extreme<false>},
                                 Named{"reject", select<false, false>},
                                 Named{"rejectattr", select<false, true>},
                                 Named{"replace", replace},
                                 Named{"reverse", reversed},
                                 Named{"round", round_number},
                                 Named{"safe", same},
                                 Named{"select", select<true, false>},
                                 Named{"selectattr", select<true, true>},
                                 Named{"sort", sorted},
                                 Named{"string", string},
                                 Named{"sum", sum},
                                 Named{"title", title},
                                 Named{"tojson", tojson},
                                 Named{"trim", trim},
                                 Named{"unique", unique},
                                 Named{"upper", upper},
                                 Named{"wordcount", wordcount}};

}  // namespace

Builtin find_filter(std::string_view name) {
  const auto found = std::find_if(kFilters.begin(), kFilters.end(), [&](const Named& one) { return one.name == name; });
  return found == kFilters.end() ? nullptr : found->filter;
}

}  // namespace limpid::jinja
