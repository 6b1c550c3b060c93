// The methods of texts and dicts that chat templates call.

#include <algorithm>
#include <array>

#include "base/error.h"
#include "text/jinja_evaluator.h"
#include "text/jinja_text.h"
#include "text/utf8.h"

namespace limpid::jinja {
namespace {

// values[0] is what the method belongs to.
const std::string& self(const Call& call) { return *call.values[0].text(); }
const Dict& members(const Call& call) { return *call.values[0].dict(); }
std::string text_or(const Call& call, size_t index, const char* name, const char* otherwise) {
  const auto found = call.argument(index, name);
  return found && !found->is_none() ? to_text(*found) : otherwise;
}
int64_t most_of(const Call& call, size_t index, const char* name) {
  const auto found = call.argument(index, name);
  return found && found->is_whole() ? found->whole() : -1;
}

template <bool left, bool right>
Value strip(Call& call) {
  return stripped(self(call), text_or(call, 1, "chars", ""), left, right);
}

template <bool from_right>
Value split(Call& call) {
  const auto separator = call.argument(1, "sep");
  check(!separator || separator->is_none() || !to_text(*separator).empty(), "[chat template] split at an empty text");
  List parts;
  for (std::string& part :
       split_text(self(call), text_or(call, 1, "sep", ""), most_of(call, 2, "maxsplit"), from_right))
    parts.emplace_back(std::move(part));
  return parts;
}

template <bool at_start>
Value starts_or_ends(Call& call) {
  const Value& wanted = call.needed(1, "prefix");
  const auto holds = [&](const Value& one) {
    return at_start ? self(call).starts_with(to_text(one)) : self(call).ends_with(to_text(one));
  };
  if (const List* list = wanted.list()) return std::any_of(list->begin(), list->end(), holds);
  return holds(wanted);
}

template <bool from_right>
Value find_text(Call& call) {
  const std::string& text = self(call);
  const std::string what = to_text(call.needed(1, "sub"));
  const size_t at = from_right ? text.rfind(what) : text.find(what);
  return at == text.npos ? int64_t{-1} : length_of(Value(text.substr(0, at)));
}

Value replace(Call& call) {
  const std::string what = to_text(call.needed(1, "old")), by = to_text(call.needed(2, "new"));
  call.evaluator.hold(self(call).size() * (by.size() + 1) / std::max<size_t>(what.size(), 1));
  return replaced_all(self(call), what, by, most_of(call, 3, "count"));
}

Value join(Call& call) {
  std::string text;
  bool first = true;
  for (const Value& item : items_of(call.needed(1, "iterable"))) {
    if (!first) text += self(call);
    first = false;
    text += to_text(item);
    call.evaluator.spend(1 + text.size() / (1 << 20));
  }
  return text;
}

Value count(Call& call) {
  const std::string what = to_text(call.needed(1, "sub"));
  int64_t found = 0;
  for (size_t at = 0; !what.empty() && (at = self(call).find(what, at)) != std::string::npos; at += what.size())
    ++found;
  return found;
}

template <bool (*holds)(unsigned char)>
Value every(Call& call) {
  return !self(call).empty() &&
         std::all_of(self(call).begin(), self(call).end(), [](char c) { return holds(static_cast<unsigned char>(c)); });
}
bool digit(unsigned char c) { return c >= '0' && c <= '9'; }
bool letter(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80; }
bool letter_or_digit(unsigned char c) { return letter(c) || digit(c); }
bool white(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

Value get(Call& call) {
  const Value* found = find(members(call), call.needed(1, "key"));
  return found ? *found : call.argument(2, "default").value_or(None{});
}

Value keys(Call& call) { return items_of(call.values[0]); }
Value values(Call& call) {
  List result;
  for (const auto& member : members(call)) result.push_back(member.second);
  return result;
}
Value items(Call& call) {
  List result;
  for (const auto& [key, value] : members(call)) result.emplace_back(List{key, value});
  return result;
}
Value lines(Call& call) {
  List result;
  for (std::string& line : lines_of(self(call))) result.emplace_back(std::move(line));
  return result;
}
Value upper(Call& call) { return upper_case(self(call)); }
Value lower(Call& call) { return lower_case(self(call)); }
Value title(Call& call) { return titled(self(call)); }
Value capitalize(Call& call) { return capitalized(self(call)); }
Value without_prefix(Call& call) {
  const std::string prefix = to_text(call.needed(1, "prefix"));
  return self(call).starts_with(prefix) ? self(call).substr(prefix.size()) : self(call);
}
Value without_suffix(Call& call) {
  const std::string suffix = to_text(call.needed(1, "suffix"));
  return self(call).ends_with(suffix) ? self(call).substr(0, self(call).size() - suffix.size()) : self(call);
}

struct Named {
  std::string_view name;
  Builtin method;
};
constexpr std::array kOfTexts = {Named{"strip", strip<true, true>},
                                 Named{"lstrip", strip<true, false>},
                                 Named{"rstrip", strip<false, true>},
                                 Named{"split", split<false>},
                                 Named{"rsplit", split<true>},
                                 Named{"splitlines", lines},
                                 Named{"startswith", starts_or_ends<true>},
                                 Named{"endswith", starts_or_ends<false>},
                                 Named{"find", find_text<false>},
                                 Named{"rfind", find_text<true>},
                                 Named{"replace", replace},
                                 Named{"join", join},
                                 Named{"count", count},
                                 Named{"upper", upper},
                                 Named{"lower", lower},
                                 Named{"title", title},
                                 Named{"capitalize", capitalize},
                                 Named{"removeprefix", without_prefix},
                                 Named{"removesuffix", without_suffix},
                                 Named{"isdigit", every<digit>},
                                 Named{"isalpha", every<letter>},
                                 Named{"isalnum", every<letter_or_digit>},
                                 Named{"isspace", every<white>}};
constexpr std::array kOfDicts = {Named{"get", get}, Named{"keys", keys}, Named{"values", values},
                                 Named{"items", items}};

template <size_t size>
std::optional<Value> bound(const std::array<Named, size>& methods, const Value& value, std::string_view name) {
  for (const Named& one : methods)
    if (one.name == name)
      return Function{std::string(name),
                      [value, method = one.method](Call& call) {
                        call.values.insert(call.values.begin(), value);
                        return method(call);
                      },
                      depth_around(value.depth())};
  return std::nullopt;
}

}  // namespace

std::optional<Value> find_method(const Value& value, std::string_view name) {
  if (value.text()) return bound(kOfTexts, value, name);
  if (value.dict()) return bound(kOfDicts, value, name);
  return std::nullopt;
}

}  // namespace limpid::jinja
