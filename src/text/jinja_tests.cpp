// "x is …": the tests of Jinja.

#include <algorithm>
#include <array>

#include "base/error.h"
#include "text/jinja_evaluator.h"
#include "text/jinja_text.h"
#include "text/utf8.h"

namespace limpid::jinja {
namespace {

const Value& left(const Call& call) { return call.values[0]; }
const Value& right(const Call& call) { return call.needed(1, "other"); }

int64_t whole_of(const Call& call) {
  check(left(call).is_whole(), "[chat template] \"is {}\" wants a whole number, not a {}", call.function,
        type_name(left(call)));
  return left(call).whole();
}

bool divisible(Call& call) {
  check(right(call).is_whole() && right(call).whole() != 0, "[chat template] \"is divisibleby\" wants a whole number");
  return whole_of(call) % right(call).whole() == 0;
}

bool is_eq(Call& call) { return equal(left(call), right(call)); }
bool is_ne(Call& call) { return !equal(left(call), right(call)); }
bool is_lt(Call& call) { return less(left(call), right(call)); }
bool is_gt(Call& call) { return less(right(call), left(call)); }
bool is_le(Call& call) { return !less(right(call), left(call)); }
bool is_ge(Call& call) { return !less(left(call), right(call)); }
bool is_iterable(Call& call) {
  return left(call).text() || left(call).list() || left(call).dict() || left(call).is_undefined();
}
bool is_sequence(Call& call) { return left(call).text() || left(call).list() || left(call).dict(); }
bool is_true(Call& call) { return left(call).boolean() && *left(call).boolean(); }
bool is_false(Call& call) { return left(call).boolean() && !*left(call).boolean(); }
bool is_lower(Call& call) {
  const std::string text = to_text(left(call));
  return lower_case(text) == text && upper_case(text) != text;
}
bool is_upper(Call& call) {
  const std::string text = to_text(left(call));
  return upper_case(text) == text && lower_case(text) != text;
}

struct NamedTest {
  std::string_view name;
  BuiltinTest test;
};
constexpr std::array kTests = {
    NamedTest{"boolean", [](Call& call) { return left(call).boolean() != nullptr; }},
    NamedTest{"callable", [](Call& call) { return left(call).function() != nullptr; }},
    NamedTest{"defined", [](Call& call) { return !left(call).is_undefined(); }},
    NamedTest{"divisibleby", divisible},
    NamedTest{"eq", is_eq},
    NamedTest{"equalto", is_eq},
    NamedTest{"even", [](Call& call) { return whole_of(call) % 2 == 0; }},
    NamedTest{"false", is_false},
    NamedTest{"float", [](Call& call) { return left(call).decimal() != nullptr; }},
    NamedTest{"ge", is_ge},
    NamedTest{"greaterthan", is_gt},
    NamedTest{"gt", is_gt},
    NamedTest{"in", [](Call& call) { return contains(right(call), left(call)); }},
    NamedTest{"integer", [](Call& call) { return left(call).integer() != nullptr; }},
    NamedTest{"iterable", is_iterable},
    NamedTest{"le", is_le},
    NamedTest{"lessthan", is_lt},
    NamedTest{"lower", is_lower},
    NamedTest{"lt", is_lt},
    NamedTest{"mapping", [](Call& call) { return left(call).dict() != nullptr; }},
    NamedTest{"ne", is_ne},
    NamedTest{"none", [](Call& call) { return left(call).is_none(); }},
    NamedTest{"number", [](Call& call) { return left(call).is_number(); }},
    NamedTest{"odd", [](Call& call) { return whole_of(call) % 2 != 0; }},
    NamedTest{"sameas", is_eq},
    NamedTest{"sequence", is_sequence},
    NamedTest{"string", [](Call& call) { return left(call).text() != nullptr; }},
    NamedTest{"true", is_true},
    NamedTest{"undefined", [](Call& call) { return left(call).is_undefined(); }},
    NamedTest{"upper", is_upper},
};

}  // namespace

BuiltinTest find_test(std::string_view name) {
  const auto found = std::find_if(kTests.begin(), kTests.end(), [&](const NamedTest& one) { return one.name == name; });
  return found == kTests.end() ? nullptr : found->test;
}

bool contains(const Value& container, const Value& item) {
  if (const auto* text = container.text()) {
    check(item.text() != nullptr, "[chat template] a {} cannot be in a text", type_name(item));
    return text->find(*item.text()) != text->npos;
  }
  if (const List* list = container.list())
    return std::any_of(list->begin(), list->end(), [&](const Value& one) { return equal(one, item); });
  if (const Dict* dict = container.dict()) return find(*dict, item) != nullptr;
  if (container.is_undefined()) return false;
  fail("[chat template] nothing can be in a {}", type_name(container));
}

}  // namespace limpid::jinja
