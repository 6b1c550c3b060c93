#include "inspect/intervention.h"

#include <algorithm>

#include "autograd/ops.h"
#include "base/error.h"
#include "inspect/direction.h"
#include "text/line_reader.h"

namespace limpid {
namespace {

const std::vector<std::string>& tokens_of(const Example& example, TapAxis axis) {
  return axis == TapAxis::source ? example.source : example.input;
}

int64_t count_of(const Example& example, TapAxis axis) {
  if (axis == TapAxis::text) return 1;
  return (axis == TapAxis::source ? example.batch.source : example.batch.input).sequences.tokens();
}

}  // namespace

std::vector<double> mean_over_lines(const Session& session, const std::string& tap, const std::string& file) {
  std::vector<double> sum;
  int64_t rows = 0;
  LineReader reader(file);
  while (const auto line = reader.next()) {
    if (line->empty()) continue;
    const size_t tab = session.two_sided() ? line->find('\t') : std::string_view::npos;
    const Text text{std::string(line->substr(0, tab)),
                    tab == std::string_view::npos ? "" : std::string(line->substr(tab + 1))};
    const TapValues values = tap_values(session.model(), session.example(text), {tap}).at(tap);
    const std::vector<double> mean = values.mean();
    sum.resize(mean.size());
    for (size_t i = 0; i < mean.size(); ++i) sum[i] += mean[i] * static_cast<double>(values.positions);
    rows += values.positions;
  }
  check(rows > 0, "[look] {} has no lines to take a mean over", file);
  for (double& x : sum) x /= static_cast<double>(rows);
  return sum;
}

bool Intervener::Rule::holds_at(int64_t position) const {
  if (kind == Intervention::Kind::patch) return from.contains(position);
  return everywhere || std::binary_search(positions.begin(), positions.end(), position);
}

void Intervener::Rule::change(real& x, int64_t position, int64_t column, int64_t head) const {
  switch (kind) {
    case Intervention::Kind::zero: x = 0; break;
    case Intervention::Kind::mean: x = static_cast<real>(direction[column]); break;
    case Intervention::Kind::scale: x *= static_cast<real>(number); break;
    case Intervention::Kind::set: x = static_cast<real>(number); break;
    case Intervention::Kind::patch: x = other.row(from.at(position), head)[column]; break;
    case Intervention::Kind::steer: x += static_cast<real>(number * direction[column]); break;
  }
}

Intervener::Intervener(const Session& session, const Example& example, const std::vector<Intervention>& interventions)
    : batch_(example.batch) {
  check(batch_.input.sequences.count() == 1, "[look] interventions work on one text at a time");
  const std::vector<TapInfo>& taps = session.taps();
  for (const Intervention& intervention : interventions)
    for (const TapInfo& tap : find_taps(taps, intervention.place.tap, session.config())) {
      Rule rule{
          .kind = intervention.kind,
          .everywhere = intervention.place.positions.empty(),
          .positions = chosen_positions(intervention.place, count_of(example, tap.rows), tokens_of(example, tap.rows)),
          .columns = chosen_columns(intervention.place, tap),
          .heads = tap.keys ? chosen_heads(intervention.place, tap) : std::vector<int64_t>{},
          .keys = intervention.place.keys,
          .number = intervention.number};
      prepare(session, example, intervention, tap, rule);
      rules_[tap.name].push_back(std::move(rule));
    }
}

void Intervener::prepare(const Session& session, const Example& example, const Intervention& intervention,
                         const TapInfo& tap, Rule& rule) {
  switch (intervention.kind) {
    case Intervention::Kind::mean:
      rule.direction = intervention.over.empty() ? tap_values(session.model(), example, {tap.name}).at(tap.name).mean()
                                                 : mean_over_lines(session, tap.name, intervention.over);
      break;
    case Intervention::Kind::steer:
      check(!tap.keys, "[look] {} is of pairs, which have no direction to steer along", tap.name);
      rule.direction = read_direction(session, intervention.along, tap.name);
      check(static_cast<int64_t>(rule.direction.size()) == tap.cols,
            "[look] {} is a direction of {} numbers, {} has {}: take a tap of the residual stream", intervention.along,
            rule.direction.size(), tap.name, tap.cols);
      break;
    case Intervention::Kind::patch: prepare_patch(session, intervention, tap, rule); break;
    default: break;
  }
}

// The same place of the other text: positions are counted there anew, so that -1 is its last token, too.
void Intervener::prepare_patch(const Session& session, const Intervention& intervention, const TapInfo& tap,
                               Rule& rule) {
  const Example other = session.example(intervention.from);
  Place place = intervention.place;
  for (PositionRange& range : place.positions) {
    if (range.token.empty()) continue;  // a token of this text need not stand in the other one: the same number
    place.positions.clear();
    for (int64_t p : rule.positions) place.positions.push_back({p, p});
    break;
  }
  const std::vector<int64_t> from = chosen_positions(place, count_of(other, tap.rows), tokens_of(other, tap.rows));
  check(from.size() == rule.positions.size(),
        "[look] \"{}\" has {} tokens there, this text {}: name positions (@-1), or take a text as long",
        intervention.from.text, from.size(), rule.positions.size());
  for (size_t i = 0; i < from.size(); ++i) rule.from[rule.positions[i]] = from[i];
  rule.other = tap_values(session.model(), other, {tap.name}).at(tap.name);
}

bool Intervener::wants(std::string_view name) const { return rules_.find(name) != rules_.end(); }

Tensor Intervener::visit(const Tap& tap) {
  const auto rules = rules_.find(tap.name);
  if (rules == rules_.end()) return tap.value;
  Run run({});
  Tensor value = constant(run, tap.value.values());
  for (const Rule& rule : rules->second) {
    if (tap.layout.keys)
      change_pairs(rule, tap, value);
    else
      change_rows(rule, tap, value.values());
  }
  return value;
}

void Intervener::change_rows(const Rule& rule, const Tap& tap, Matrix values) const {
  const std::vector<RowPlace> places = row_places(tap, batch_);
  for (size_t i = 0; i < places.size(); ++i) {
    if (!rule.holds_at(places[i].position)) continue;
    for (int64_t column : rule.columns)
      rule.change(values(static_cast<int64_t>(i), column), places[i].position, column, 0);
  }
}

void Intervener::change_pairs(const Rule& rule, const Tap& tap, Tensor& value) const {
  const std::vector<RowPlace> places = row_places(tap, batch_);
  const int64_t queries = tap.layout.rows->length(0), keys = tap.layout.keys->length(0);
  for (int64_t head : rule.heads)
    for (int64_t query = 0; query < queries; ++query) {
      const int64_t position = places[query].position;
      if (!rule.holds_at(position)) continue;
      real* row = value.values().data + (head * queries + query) * keys;
      for (int64_t key = 0; key < keys; ++key) {
        const bool known = rule.kind != Intervention::Kind::patch || key < rule.other.cols;
        if (known && is_in(rule.keys, key)) rule.change(row[key], position, key, head);
      }
    }
}

}  // namespace limpid
