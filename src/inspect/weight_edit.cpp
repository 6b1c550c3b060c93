#include "inspect/weight_edit.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/nearest.h"
#include "inspect/direction.h"
#include "inspect/weights.h"

namespace limpid {
namespace {

constexpr const char* kForm = "write NAME[row,column]=number, += or *=, with : for all";

double parse_value(std::string_view text, std::string_view whole) {
  const std::string_view trim = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(trim.data(), trim.data() + trim.size(), value);
  check(error == std::errc() && end == trim.data() + trim.size(), "[look] \"{}\" in {} is no number: {}", trim, whole,
        kForm);
  return value;
}

int64_t parse_index(std::string_view text, std::string_view whole) {
  const std::string_view trim = trimmed(text);
  if (trim == ":") return -1;
  int64_t index = -1;
  const auto [end, error] = std::from_chars(trim.data(), trim.data() + trim.size(), index);
  check(error == std::errc() && end == trim.data() + trim.size() && index >= 0,
        "[look] \"{}\" in {} is no row or column: {}", trim, whole, kForm);
  return index;
}

void parse_outer(std::string_view value, std::string_view whole, WeightEdit& edit) {
  const size_t open = value.find("outer("), comma = value.find(',', open);
  check(comma != std::string_view::npos && value.ends_with(')') && edit.kind == WeightEdit::Kind::add,
        "[look] {}: write NAME+=factor*outer(left, right)", whole);
  const std::string factor(trimmed(value.substr(0, open)));
  check(factor.empty() || factor.ends_with('*'), "[look] {}: write NAME+=factor*outer(left, right)", whole);
  edit.kind = WeightEdit::Kind::add_outer;
  edit.value = factor.empty() ? 1 : parse_value(std::string_view(factor).substr(0, factor.size() - 1), whole);
  edit.left = trimmed(value.substr(open + 6, comma - open - 6));
  edit.right = trimmed(value.substr(comma + 1, value.size() - comma - 2));
}

void parse_name(std::string_view text, std::string_view whole, WeightEdit& edit) {
  const size_t open = text.find('[');
  edit.name = trimmed(text.substr(0, open));
  check(!edit.name.empty(), "[look] \"{}\" names no weight: {}", whole, kForm);
  if (open == std::string_view::npos) return;
  const size_t close = text.find(']', open), comma = text.find(',', open);
  check(close != std::string_view::npos, "[look] the brackets of {} do not match: {}", whole, kForm);
  edit.row = parse_index(text.substr(open + 1, std::min(comma, close) - open - 1), whole);
  if (comma < close) edit.column = parse_index(text.substr(comma + 1, close - comma - 1), whole);
}

// The weight of the model itself, not a copy of its description.
Weight& find_weight(Model& model, const std::string& name) {
  Weight* found = nullptr;
  std::vector<std::string> names;
  model.visit_parameters([&](Weight& weight) {
    names.push_back(weight.name);
    if (weight.name == name) found = &weight;
  });
  const std::vector<std::string_view> known(names.begin(), names.end());
  check(found != nullptr, "[look] the model has no weight {}{}: name one that its files have", name,
        [&] { return did_you_mean(name, known); });
  return *found;
}

void check_index(int64_t index, int64_t count, const char* what, const std::string& name) {
  check(index < count, "[look] {} has {} {}s, no {} {}", name, count, what, what, index);
}

}  // namespace

WeightEdit parse_weight_edit(std::string_view text) {
  WeightEdit edit;
  const size_t equals = text.find('=');
  check(equals != std::string_view::npos && equals > 0, "[look] \"{}\" is no edit of a weight: {}", text, kForm);
  const char before = text[equals - 1];
  edit.kind = before == '+' ? WeightEdit::Kind::add : before == '*' ? WeightEdit::Kind::scale : WeightEdit::Kind::set;
  parse_name(text.substr(0, edit.kind == WeightEdit::Kind::set ? equals : equals - 1), text, edit);
  const std::string value(trimmed(text.substr(equals + 1)));
  if (value.find("outer(") != std::string::npos)
    parse_outer(value, text, edit);
  else
    edit.value = parse_value(value, text);
  return edit;
}

Matrix edit_weight(Model& model, const std::string& name) {
  Weight& weight = find_weight(model, name);
  const int64_t cols = weight.shape.empty() ? 1 : weight.shape.back(), rows = weight.size() / cols;
  const auto numbers = std::make_shared<std::vector<real>>(numbers_of(weight));
  const bool packed = weight.packed != nullptr;
  weight.point_to(kRealType, numbers->data());
  if (packed) weight.pack();
  model.keep(numbers);
  return {numbers->data(), rows, cols};
}

void apply(const WeightEdit& edit, const Session& session, Model& model) {
  Matrix values = edit_weight(model, edit.name);
  if (edit.kind == WeightEdit::Kind::add_outer) {
    const std::vector<double> left = read_direction(session, edit.left), right = read_direction(session, edit.right);
    check(static_cast<int64_t>(left.size()) == values.rows && static_cast<int64_t>(right.size()) == values.cols,
          "[look] {} is {}×{}, the outer product {}×{}", edit.name, values.rows, values.cols, left.size(),
          right.size());
    for (int64_t i = 0; i < values.rows; ++i)
      for (int64_t j = 0; j < values.cols; ++j) values(i, j) += static_cast<real>(edit.value * left[i] * right[j]);
    return;
  }
  check_index(edit.row, values.rows, "row", edit.name);
  check_index(edit.column, values.cols, "column", edit.name);
  const auto number = static_cast<real>(edit.value);
  for (int64_t i = edit.row < 0 ? 0 : edit.row; i < (edit.row < 0 ? values.rows : edit.row + 1); ++i)
    for (int64_t j = edit.column < 0 ? 0 : edit.column; j < (edit.column < 0 ? values.cols : edit.column + 1); ++j) {
      real& x = values(i, j);
      x = edit.kind == WeightEdit::Kind::add ? x + number : edit.kind == WeightEdit::Kind::scale ? x * number : number;
    }
}

Session with_weight_edits(const Session& session, const std::vector<WeightEdit>& edits) {
  const LoadedModel& from = session.loaded;
  std::unique_ptr<Model> model = from.model->sharing_weights();
  for (const WeightEdit& edit : edits) apply(edit, session, *model);
  return Session{{std::move(model), from.generation, from.tokenizers, from.sentence}};
}

}  // namespace limpid
