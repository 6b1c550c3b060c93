#include "inspect/superposition_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inspect/display_text.h"
#include "inspect/svg_text.h"

namespace limpid {
namespace {

double reach_of(const std::vector<SuperpositionModel>& models) {
  double reach = 1;
  for (const SuperpositionModel& model : models)
    for (int64_t i = 0; i < model.features; ++i) reach = std::max(reach, model.length(i));
  return reach;
}

std::string summary(const SuperpositionModel& model) {
  const std::string shape = superposition_shape(model);
  return fmt::format("{} of {}{}", represented_features(model).size(), model.features,
                     shape.empty() ? "" : ": " + shape);
}

// From the most important feature, dark, to the least, light.
std::string feature_color(int64_t i, int64_t count) {
  constexpr Rgb kDark = {68, 1, 84}, kMiddle = {33, 145, 140}, kLight = {200, 190, 30};
  const double part = count > 1 ? 2 * static_cast<double>(i) / static_cast<double>(count - 1) : 0;
  Rgb color{};
  for (size_t c = 0; c < 3; ++c)
    color[c] = static_cast<int>(part <= 1 ? kDark[c] + part * (kMiddle[c] - kDark[c])
                                          : kMiddle[c] + (part - 1) * (kLight[c] - kMiddle[c]));
  return fmt::format("#{:02x}{:02x}{:02x}", color[0], color[1], color[2]);
}

std::string panel_svg(const SuperpositionModel& model, double x, double y, double radius, double reach) {
  std::string svg = fmt::format(
      "<text x=\"{0:.1f}\" y=\"{1:.1f}\" class=\"title\" text-anchor=\"middle\">1−S = {2:.3g}</text>\n<circle "
      "cx=\"{0:.1f}\" cy=\"{3:.1f}\" r=\"{4:.1f}\" fill=\"none\" stroke=\"#ddd\"/>\n",
      x, y - radius - 14, model.density, y, radius / reach);
  for (int64_t i = 0; i < model.features; ++i) {
    const double to_x = x + radius * model.weight_at(0, i) / reach, to_y = y - radius * model.weight_at(1, i) / reach;
    const std::string color = feature_color(i, model.features);
    svg += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"1.6\"/><circle "
        "cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>feature {}: length {:.3f}, angle {:.1f}°, bias "
        "{:.3f}</title></circle>\n",
        x, y, to_x, to_y, color, to_x, to_y, color, i, model.length(i),
        std::atan2(model.weight_at(1, i), model.weight_at(0, i)) * 57.29577951308232,
        static_cast<double>(model.bias[i]));
  }
  return svg + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x, y + radius + 20,
                           summary(model));
}

std::vector<std::string> panel_terminal(const SuperpositionModel& model, int64_t columns, int64_t lines, double reach) {
  DotCanvas canvas(columns, lines);
  const double x = static_cast<double>(canvas.width()) / 2, y = static_cast<double>(canvas.height()) / 2;
  const double radius = std::min(x, y) - 3;  // dots are about square
  for (int64_t i = 0; i < model.features; ++i) {
    const double to_x = x + radius * model.weight_at(0, i) / reach, to_y = y - radius * model.weight_at(1, i) / reach;
    canvas.line(x, y, to_x, to_y);
    if (model.length(i) > kRepresentedLength) canvas.text(std::lround(to_x), std::lround(to_y), std::to_string(i));
  }
  std::vector<std::string> rows = canvas.lines();
  rows.insert(rows.begin(), fmt::format("1−S = {:.3g}", model.density));
  rows.push_back(summary(model));
  for (std::string& row : rows) row = pad_right(cut_to(row, columns), columns);
  return rows;
}

}  // namespace

std::string geometry_svg(const std::vector<SuperpositionModel>& models) {
  constexpr double kRadius = 70, kPitch = 190, kRowPitch = 220, kTop = 140;
  constexpr size_t kPerRow = 5;
  const auto columns = static_cast<double>(std::min(kPerRow, models.size()));
  const auto rows = static_cast<int64_t>((models.size() + kPerRow - 1) / kPerRow);
  std::string svg =
      svg_begin(columns * kPitch + 16, kTop + static_cast<double>(rows - 1) * kRowPitch + kRadius + 50,
                fmt::format("{} features in {} dimensions; dark: the most important",
                            models.empty() ? 0 : models[0].features, models.empty() ? 0 : models[0].dimensions));
  const double reach = reach_of(models);
  for (size_t i = 0; i < models.size(); ++i) {
    const size_t row = i / kPerRow, column = i % kPerRow;
    svg += panel_svg(models[i], 8 + kPitch * (static_cast<double>(column) + 0.5),
                     kTop + kRowPitch * static_cast<double>(row), kRadius, reach);
  }
  return svg + "</svg>\n";
}

std::string geometry_terminal(const std::vector<SuperpositionModel>& models, const TerminalStyle& style) {
  constexpr int64_t kColumns = 26, kLines = 11, kGap = 2;
  const auto per_row = static_cast<size_t>(std::max<int64_t>((style.width + kGap) / (kColumns + kGap), 1));
  const double reach = reach_of(models);
  std::string text;
  for (size_t begin = 0; begin < models.size(); begin += per_row) {
    std::vector<std::string> rows(kLines + 2);
    for (size_t i = begin; i < std::min(begin + per_row, models.size()); ++i) {
      const std::vector<std::string> panel = panel_terminal(models[i], kColumns, kLines, reach);
      for (size_t row = 0; row < rows.size(); ++row)
        rows[row] += (i > begin ? std::string(kGap, ' ') : std::string()) + panel[row];
    }
    for (const std::string& row : rows) text += row + "\n";
    text += "\n";
  }
  return text;
}

Chart dimensionality_chart(const std::vector<SuperpositionModel>& models) {
  Chart chart{.title = fmt::format("Dimensionality of {} features in {} dimensions",
                                   models.empty() ? 0 : models[0].features, models.empty() ? 0 : models[0].dimensions),
              .x_name = "1/(1−S)",
              .y_name = "share of a dimension",
              .guides = {{1, "1: alone"},
                         {0.75, "3/4: tetrahedron"},
                         {2.0 / 3, "2/3: triangle"},
                         {0.5, "1/2: antipodal pair"},
                         {0.4, "2/5: pentagon"},
                         {0.375, "3/8: square antiprism"}},
              .log_x = true,
              .low = 0,
              .high = 1.1};
  chart.series = {{.name = "m/|W|², the mean over represented features"},
                  {.name = "each feature with |W_i| > 0.5", .line = false, .opacity = 0.25}};
  for (const SuperpositionModel& model : models) {
    chart.series[0].points.push_back({1 / model.density, std::min(dimensions_per_feature(model), 1.1)});
    const std::vector<double> shares = feature_dimensionality(model);
    for (int64_t i : represented_features(model)) chart.series[1].points.push_back({1 / model.density, shares[i]});
  }
  return chart;
}

int64_t features_near(const std::vector<double>& dimensionality, double value, double slack) {
  return std::count_if(dimensionality.begin(), dimensionality.end(),
                       [&](double d) { return std::abs(d - value) <= slack; });
}

}  // namespace limpid
