// Parameters: where they are, and any tensor as numbers, reduced for a picture, with a histogram.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/nearest.h"
#include "inspect/weights.h"
#include "models/parameter_table.h"
#include "server/http.h"
#include "server/inspect_parts.h"
#include "server/inspect_reduce.h"
#include "server/inspect_views.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using Answer = InspectCall::Answer;

constexpr int64_t kOverview = 128;  // rows and columns where nothing else is asked for

std::pair<int64_t, int64_t> read_range(InspectCall& call, const char* name, int64_t count) {
  const std::vector<int64_t> given = call.fields.wholes(name);
  if (given.empty()) return {0, count};
  if (given.size() != 2 || given[0] < 0 || given[1] < given[0] || given[1] >= count)
    throw HttpError(400, fmt::format("\"{}\" is the first and the last, within 0 to {}.", name, count - 1),
                    {.param = name});
  return {given[0], given[1] + 1};
}

struct Spread {
  double least = 0, most = 0, mean = 0, deviation = 0;
};

Spread spread_of(const std::vector<real>& numbers) {
  Spread spread;
  double sum = 0, square = 0;
  bool first = true;
  for (const real x : numbers) {
    const auto value = static_cast<double>(x);
    spread.least = first ? value : std::min(spread.least, value);
    spread.most = first ? value : std::max(spread.most, value);
    first = false;
    sum += value;
    square += value * value;
  }
  const auto count = static_cast<double>(std::max<size_t>(1, numbers.size()));
  spread.mean = sum / count;
  spread.deviation = std::sqrt(std::max(0.0, square / count - spread.mean * spread.mean));
  return spread;
}

std::vector<int32_t> histogram_of(const std::vector<real>& numbers, const Spread& spread, int64_t bins) {
  std::vector<int32_t> counts(static_cast<size_t>(bins));
  const double width = spread.most > spread.least ? (spread.most - spread.least) / static_cast<double>(bins) : 1;
  for (const real x : numbers) {
    const auto bin = static_cast<int64_t>((static_cast<double>(x) - spread.least) / width);
    ++counts[static_cast<size_t>(std::clamp<int64_t>(bin, 0, bins - 1))];
  }
  return counts;
}

Weight find_weight(const Model& model, const std::string& name) {
  std::optional<Weight> found;
  std::vector<std::string> names;
  model.each_parameter([&](const Weight& weight) {
    names.push_back(weight.name);
    if (weight.name == name) found = weight;
  });
  const std::vector<std::string_view> known(names.begin(), names.end());
  if (!found)
    throw HttpError(400,
                    fmt::format("The model has no weight \"{}\"{}; /inspect/parameters lists all.", name,
                                did_you_mean(name, known)),
                    {.param = "name"});
  return *found;
}

}  // namespace

Answer view_parameters(InspectCall& call) {
  std::vector<Weight> weights;
  Json list = Json::array();
  call.unchanged().model().each_parameter([&](const Weight& weight) {
    weights.push_back(weight);
    list.push_back({{"name", weight.name},
                    {"shape", weight.shape},
                    {"type", name_of(weight.type)},
                    {"parameters", weight.trainable ? weight.size() : 0},
                    {"part", part_of_weight(call.config(), weight)},
                    {"group", part_name(weight.part)},
                    {"bytes", bytes_of(weight.type, weight.size())}});
  });
  Json json = to_json(parameter_table(std::span<const Weight>(weights)));
  json["total"] = json["parameters"];
  json["groups"] = json["parts"];
  json["weights"] = std::move(list);
  return call.json(std::move(json), "limpid params " + shell_quoted(call.served.path));
}

Answer view_weight(InspectCall& call) {
  const std::string name = call.fields.text("name");
  const int64_t bins = call.fields.whole("histogram", 64, 1, 1024);
  const Weight weight = find_weight(call.model(), name);
  const int64_t columns = weight.shape.empty() ? 1 : weight.shape.back(),
                rows = weight.size() / std::max<int64_t>(1, columns);
  const auto [first_row, last_row] = read_range(call, "rows", rows);
  const auto [first_column, last_column] = read_range(call, "columns", columns);
  const Reduction reduction = read_reduction(call, {kOverview, kOverview});
  if (!reduction.wanted()) call.check_bytes(4 * (last_row - first_row) * (last_column - first_column));
  std::vector<real> numbers = numbers_of(weight);
  if (first_row > 0 || last_row < rows || first_column > 0 || last_column < columns) {
    std::vector<real> cut;
    for (int64_t i = first_row; i < last_row; ++i)
      cut.insert(cut.end(), numbers.begin() + i * columns + first_column, numbers.begin() + i * columns + last_column);
    numbers = std::move(cut);
  }
  const Reduced reduced = reduce({numbers.data(), last_row - first_row, last_column - first_column}, reduction);
  const Spread spread = spread_of(numbers);
  const std::vector<int32_t> histogram = histogram_of(numbers, spread, bins);
  ArrayBytes arrays;
  arrays.add("values", {reduced.rows, reduced.columns}, std::span<const real>(reduced.values));
  arrays.add("histogram", {bins}, std::span<const int32_t>(histogram));
  return call.tensors(arrays,
                      {{"name", name},
                       {"shape", weight.shape},
                       {"type", name_of(find_weight(call.unchanged().model(), name).type)},
                       {"rows", {first_row, last_row - 1}},
                       {"columns", {first_column, last_column - 1}},
                       {"min", spread.least},
                       {"max", spread.most},
                       {"mean", spread.mean},
                       {"deviation", spread.deviation},
                       {"low", spread.least},
                       {"high", spread.most},
                       {"reduced", {{"rows", reduced.rows_per_cell}, {"columns", reduced.columns_per_cell}}}},
                      "intervene", {"--weights"});
}

}  // namespace limpid
