// limpid look … weight: the numbers of one weight.

#include <fmt/format.h>

#include <memory>

#include "app/look.h"
#include "inspect/weight_summary.h"

namespace limpid {
namespace {

struct WeightCommand {
  std::string name;
  std::vector<int64_t> rows, columns;
  Reduction reduction;
  int64_t bins = 64;
};

std::pair<int64_t, int64_t> range_of(const std::vector<int64_t>& given) {
  return given.empty() ? std::pair<int64_t, int64_t>{0, -1} : std::pair{given[0], given[1]};
}

std::vector<std::string> numbers_from(int64_t first, int64_t count, int64_t step) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) names.push_back(std::to_string(first + i * step));
  return names;
}

void show_weight(const LookOptions& options, const WeightCommand& command) {
  const Session session = open_model(options);
  const WeightSummary summary =
      summarize(find_weight(session.model(), command.name), {.rows = range_of(command.rows),
                                                             .columns = range_of(command.columns),
                                                             .reduction = command.reduction,
                                                             .bins = command.bins});
  const Reduced& values = summary.values;
  Heatmap map = heatmap_of(summary.name, {values.values.data(), values.rows, values.columns},
                           numbers_from(summary.rows.first, values.rows, values.rows_per_cell));
  map.columns = numbers_from(summary.columns.first, values.columns, values.columns_per_cell);
  const Picture picture{.title = "", .maps = {map}, .per_row = 1};
  const auto shown = [&] {
    return fmt::format("{} ({}), {}\n  mean {:.6g}, standard deviation {:.6g}, from {:.6g} to {:.6g}\n\n{}",
                       summary.name, fmt::join(summary.shape, " × "), summary.type, summary.mean, summary.deviation,
                       summary.least, summary.most, to_terminal(picture, terminal_style(options)));
  };
  write_result(options, {.shown = shown,
                         .csv = [&] { return to_csv(picture); },
                         .svg = [&] { return to_svg(picture); },
                         .json =
                             [&] {
                               nlohmann::ordered_json json = summary_json(summary);
                               json["histogram"] = summary.histogram;
                               json["values"] = values_json(summary);
                               return json;
                             }});
}

}  // namespace

LookPart add_look_weight(CLI::App& look, LookOptions& options) {
  CLI::App* part = look.add_subcommand(
      "weight", "One weight: how its numbers are spread, and the matrix as a picture or as numbers.");
  auto command = std::make_shared<WeightCommand>();
  part->add_option("NAME", command->name, "its name in the model's files (intervene --weights lists them)")->required();
  part->add_option("--rows", command->rows, "the first and the last row to look at")->expected(2);
  part->add_option("--columns", command->columns, "the first and the last column to look at")->expected(2);
  part->add_option("--cells-down", command->reduction.rows,
                   "at most so many rows of cells, each the number of largest magnitude of its tile (0: every number)")
      ->check(CLI::NonNegativeNumber);
  part->add_option("--cells-across", command->reduction.columns, "the same of columns")->check(CLI::NonNegativeNumber);
  part->add_option("--bins", command->bins, "of the histogram in --json")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  part->add_option("--interventions", options.interventions,
                   "a file of [[intervention]] tables, of which those that edit weights hold here");
  add_result_options(*part, options, true);
  return {part, [&options, command] { show_weight(options, *command); }};
}

}  // namespace limpid
