#include "inspect/gradient_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "inspect/display_text.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

std::string objective_text(const Session& session, const Objective& objective) {
  if (objective.kind == Objective::Kind::loss) return "loss";
  const std::string token = fmt::format("\"{}\"", visible(session.piece(objective.token)));
  if (objective.kind == Objective::Kind::log_probability) return "log-probability of " + token;
  if (objective.kind == Objective::Kind::logit) return "logit of " + token;
  return fmt::format("logit of {} less that of \"{}\"", token, visible(session.piece(objective.against)));
}

const std::vector<std::string>& labels_of(const Example& example, const TapGradient& tap) {
  return tap.values.positions == example.positions() ? example.input : example.source;
}

std::string place_text(const StrongNumber& one, bool pairs) {
  if (pairs) return fmt::format("{}[head {}, key {}]@{}", one.tap, one.head, one.column, one.position);
  return fmt::format("{}[{}]@{}", one.tap, one.column, one.position);
}

Objective::Kind kind_of(const ObjectiveRequest& request) {
  if (request.of == "loss") return Objective::Kind::loss;
  if (request.of == "log-probability") return Objective::Kind::log_probability;
  check(request.of == "logit", "[gradient] there is no gradient of \"{}\": it is logit, log-probability or loss",
        request.of);
  return request.against.empty() ? Objective::Kind::logit : Objective::Kind::difference;
}

}  // namespace

Objective read_objective(const Session& session, const Example& example, const ObjectiveRequest& request) {
  Objective objective{.kind = kind_of(request), .position = request.position};
  if (objective.kind == Objective::Kind::loss) return objective;
  if (!session.config().labels.empty()) objective.position = 0;  // a classifier has one row of logits
  objective.token = request.token.empty() ? likeliest_token(session.model(), example, objective.position)
                                          : session.token(session.writer(), request.token);
  if (!request.against.empty()) objective.against = session.token(session.writer(), request.against);
  return objective;
}

std::vector<StrongNumber> strongest_numbers(const TapGradients& all, int64_t wanted) {
  std::vector<StrongNumber> numbers;
  for (const std::string& name : all.names) {
    const TapGradient& tap = all.taps.at(name);
    for (int64_t head = 0; head < tap.values.heads; ++head)
      for (int64_t p = 0; p < tap.values.positions; ++p)
        for (int64_t j = 0; j < tap.values.cols; ++j) {
          const auto value = static_cast<double>(tap.values.row(p, head)[j]);
          const auto gradient = static_cast<double>(tap.gradient.row(p, head)[j]);
          if (value * gradient != 0 && std::isfinite(value)) numbers.push_back({name, p, head, j, value, gradient, ""});
        }
  }
  const auto kept = static_cast<ptrdiff_t>(std::min(static_cast<size_t>(wanted), numbers.size()));
  std::partial_sort(
      numbers.begin(), numbers.begin() + kept, numbers.end(),
      [](const StrongNumber& a, const StrongNumber& b) { return std::abs(a.product()) > std::abs(b.product()); });
  numbers.resize(static_cast<size_t>(kept));
  for (StrongNumber& one : numbers) one.place = place_text(one, all.taps.at(one.tap).values.pairs);
  return numbers;
}

Json gradient_json(const Session& session, const TapGradients& all, const Objective& objective, int64_t top) {
  Json taps = Json::array(), strong = Json::array();
  for (const std::string& name : all.names) {
    const TapGradient& tap = all.taps.at(name);
    std::vector<double> products, lengths;
    for (int64_t i = 0; i < tap.values.positions; ++i) {
      products.push_back(tap.at_position(i));
      lengths.push_back(tap.length(i));
    }
    taps.push_back({{"tap", name}, {"gradient_times_value", products}, {"gradient_length", lengths}});
  }
  for (const StrongNumber& one : strongest_numbers(all, top))
    strong.push_back({{"place", one.place},
                      {"value", one.value},
                      {"gradient", one.gradient},
                      {"gradient_times_value", one.product()}});
  return {{"of", objective_text(session, objective)}, {"value", all.value}, {"taps", taps}, {"strongest", strong}};
}

Picture gradient_picture(const Session& session, const Example& example, const TapGradients& all,
                         const Objective& objective, bool length) {
  Picture picture{.title = fmt::format("{}: {:.4f}", objective_text(session, objective), all.value), .per_row = 1};
  std::vector<int64_t> counts;
  for (const std::string& name : all.names) {
    const int64_t positions = all.taps.at(name).values.positions;
    if (std::find(counts.begin(), counts.end(), positions) == counts.end()) counts.push_back(positions);
  }
  for (int64_t positions : counts) {
    Heatmap map{.title = length ? "length of the gradient" : "gradient × value", .column_name = "position"};
    map.column_count = positions;
    for (const std::string& name : all.names) {
      const TapGradient& tap = all.taps.at(name);
      if (tap.values.positions != positions) continue;
      if (map.columns.empty())
        for (const std::string& token : labels_of(example, tap)) map.columns.push_back(visible(token));
      if (static_cast<int64_t>(map.columns.size()) != positions) map.columns.clear();
      map.rows.push_back(name);
      for (int64_t i = 0; i < positions; ++i)
        map.values.push_back(static_cast<float>(length ? tap.length(i) : tap.at_position(i)));
    }
    map.row_count = static_cast<int64_t>(map.rows.size());
    picture.maps.push_back(std::move(map));
  }
  return picture;
}

std::vector<ArrayShape> gradient_arrays(const TapGradients& all) {
  std::vector<ArrayShape> shapes;
  for (const std::string& name : all.names) {
    const TapValues& values = all.taps.at(name).values;
    const std::vector<int64_t> shape = values.pairs ? std::vector{values.heads, values.positions, values.cols}
                                                    : std::vector{values.positions, values.cols};
    shapes.push_back({name, shape});
    shapes.push_back({name + ".gradient", shape});
  }
  return shapes;
}

}  // namespace limpid
