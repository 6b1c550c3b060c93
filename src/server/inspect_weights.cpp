// Parameters: where they are, and any tensor as numbers, reduced for a picture, with a histogram.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "inspect/weight_summary.h"
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

std::pair<int64_t, int64_t> read_range(InspectCall& call, const char* name) {
  const std::vector<int64_t> given = call.fields.wholes(name);
  if (given.empty()) return {0, -1};
  if (given.size() != 2 || given[0] < 0 || given[1] < given[0])
    throw HttpError(400, fmt::format("\"{}\" is the first and the last, such as [0, 63].", name), {.param = name});
  return {given[0], given[1]};
}

// That an answer has of a weight.
int64_t numbers_of(const WeightCut& cut, const Weight& weight) {
  const auto chosen = [](int64_t all, const std::pair<int64_t, int64_t>& range, int64_t most) {
    const int64_t count = range.second < 0 ? all : std::min(all, range.second + 1) - range.first;
    return most > 0 ? std::min(count, most) : count;
  };
  const int64_t columns = weight.shape.empty() ? 1 : weight.shape.back();
  return chosen(weight.size() / std::max<int64_t>(1, columns), cut.rows, cut.reduction.rows) *
         chosen(columns, cut.columns, cut.reduction.columns);
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
                    {"group", part_name(weight.role)},
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
  const WeightCut cut{.rows = read_range(call, "rows"),
                      .columns = read_range(call, "columns"),
                      .reduction = read_reduction(call, {kOverview, kOverview}),
                      .bins = call.fields.whole("histogram", 64, 1, 1024)};
  const Weight weight = find_weight(call.model(), name);
  call.check_tensors(4 * numbers_of(cut, weight));
  const WeightSummary summary = summarize(weight, cut);
  Json json = summary_json(summary);
  json["type"] = name_of(find_weight(call.unchanged().model(), name).type);
  ArrayBytes arrays;
  arrays.add("values", {summary.values.rows, summary.values.columns}, std::span<const real>(summary.values.values));
  arrays.add("histogram", {cut.bins}, std::span<const int32_t>(summary.histogram));
  std::vector<std::string> command = {name};
  const auto pass_on = [&](const char* option, int64_t value) {
    command.insert(command.end(), {option, std::to_string(value)});
  };
  const auto pass_range = [&](const char* option, const std::pair<int64_t, int64_t>& range) {
    if (range.second >= 0)
      command.insert(command.end(), {option, std::to_string(range.first), std::to_string(range.second)});
  };
  pass_range("--rows", cut.rows);
  pass_range("--columns", cut.columns);
  pass_on("--cells-down", cut.reduction.rows);
  pass_on("--cells-across", cut.reduction.columns);
  pass_on("--bins", cut.bins);
  command.emplace_back("--json");
  return call.tensors(arrays, std::move(json), "weight", command);
}

}  // namespace limpid
