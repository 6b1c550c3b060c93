#include "inspect/weight_summary.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/cancellation.h"
#include "base/error.h"
#include "base/nearest.h"
#include "inspect/weights.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

std::pair<int64_t, int64_t> within(std::pair<int64_t, int64_t> wanted, int64_t count, const char* what,
                                   const Weight& weight) {
  if (wanted.second < 0) wanted.second = count - 1;
  check(wanted.first >= 0 && wanted.first <= wanted.second && wanted.second < count,
        "[look] {} has {} {}, 0 … {}: give the first and the last of those wanted", weight.name, count, what,
        count - 1);
  return wanted;
}

void measure_spread(const std::vector<real>& numbers, int64_t bins, WeightSummary& into) {
  double sum = 0, square = 0;
  into.least = into.most = numbers.empty() ? 0 : static_cast<double>(numbers[0]);
  for (const real x : numbers) {
    const auto value = static_cast<double>(x);
    into.least = std::min(into.least, value);
    into.most = std::max(into.most, value);
    sum += value;
    square += value * value;
  }
  const auto count = static_cast<double>(std::max<size_t>(1, numbers.size()));
  into.mean = sum / count;
  into.deviation = std::sqrt(std::max(0.0, square / count - into.mean * into.mean));
  into.histogram.assign(static_cast<size_t>(bins), 0);
  const double width = into.most > into.least ? (into.most - into.least) / static_cast<double>(bins) : 1;
  for (const real x : numbers) {
    const auto bin = static_cast<int64_t>((static_cast<double>(x) - into.least) / width);
    ++into.histogram[static_cast<size_t>(std::clamp<int64_t>(bin, 0, bins - 1))];
  }
}

}  // namespace

Weight find_weight(const Model& model, const std::string& name) {
  std::optional<Weight> found;
  std::vector<std::string> names;
  model.each_parameter([&](const Weight& weight) {
    names.push_back(weight.name);
    if (weight.name == name) found = weight;
  });
  const std::vector<std::string_view> known(names.begin(), names.end());
  check(found.has_value(), "[look] the model has no weight {} among its {}{}", name, names.size(),
        [&] { return did_you_mean(name, known); });
  return *found;
}

WeightSummary summarize(const Weight& weight, const WeightCut& cut) {
  check(cut.bins >= 1, "[look] a histogram of {} bins: it has one at least", cut.bins);
  const int64_t columns = weight.shape.empty() ? 1 : weight.shape.back(),
                rows = weight.size() / std::max<int64_t>(1, columns);
  WeightSummary summary{.name = weight.name,
                        .shape = weight.shape,
                        .type = std::string(name_of(weight.type)),
                        .rows = within(cut.rows, rows, "rows", weight),
                        .columns = within(cut.columns, columns, "columns", weight)};
  check_cancelled();
  std::vector<real> numbers = numbers_of(weight);
  check_cancelled();
  const int64_t first = summary.columns.first, count = summary.columns.second + 1 - first,
                height = summary.rows.second + 1 - summary.rows.first;
  if (count < columns || height < rows) {
    std::vector<real> chosen;
    chosen.reserve(static_cast<size_t>(count * height));
    for (int64_t i = summary.rows.first; i <= summary.rows.second; ++i) {
      const auto begin = numbers.begin() + i * columns + first;
      chosen.insert(chosen.end(), begin, begin + count);
    }
    numbers = std::move(chosen);
  }
  measure_spread(numbers, cut.bins, summary);
  check_cancelled();
  summary.values = reduce({numbers.data(), height, count}, cut.reduction);
  return summary;
}

Json summary_json(const WeightSummary& summary) {
  return {{"name", summary.name},
          {"shape", summary.shape},
          {"type", summary.type},
          {"rows", {summary.rows.first, summary.rows.second}},
          {"columns", {summary.columns.first, summary.columns.second}},
          {"min", summary.least},
          {"max", summary.most},
          {"mean", summary.mean},
          {"deviation", summary.deviation},
          {"reduced", {{"rows", summary.values.rows_per_cell}, {"columns", summary.values.columns_per_cell}}}};
}

Json values_json(const WeightSummary& summary) {
  Json rows = Json::array();
  const Reduced& values = summary.values;
  for (int64_t i = 0; i < values.rows; ++i)
    rows.push_back(std::vector<real>(values.values.begin() + i * values.columns,
                                     values.values.begin() + (i + 1) * values.columns));
  return rows;
}

}  // namespace limpid
