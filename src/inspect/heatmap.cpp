#include "inspect/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "inspect/csv.h"

namespace limpid {
namespace {

// Stops of the scales, evenly spaced (ColorBrewer 2.0 by Cynthia Brewer).
constexpr std::array<Rgb, 9> kSigned = {{{5, 48, 97},
                                         {33, 102, 172},
                                         {67, 147, 195},
                                         {146, 197, 222},
                                         {247, 247, 247},
                                         {244, 165, 130},
                                         {214, 96, 77},
                                         {178, 24, 43},
                                         {103, 0, 31}}};
constexpr std::array<Rgb, 9> kOneSign = {{{255, 255, 255},
                                          {222, 235, 247},
                                          {198, 219, 239},
                                          {158, 202, 225},
                                          {107, 174, 214},
                                          {66, 146, 198},
                                          {33, 113, 181},
                                          {8, 81, 156},
                                          {8, 48, 107}}};
constexpr Rgb kNone = {205, 205, 205};

void widen(ColorRange& range, const Heatmap& map) {
  for (float value : map.values) {
    if (!std::isfinite(value)) continue;
    range.low = std::min(range.low, static_cast<double>(value));
    range.high = std::max(range.high, static_cast<double>(value));
  }
}

ColorRange finished(ColorRange range) {
  if (range.low < 0) {
    range.high = std::max(range.high, -range.low);
    range.low = -range.high;
  }
  if (range.high == range.low) range.high = range.low + 1;
  return range;
}

}  // namespace

Heatmap heatmap_of(std::string title, ConstMatrix values, std::vector<std::string> rows,
                   std::vector<std::string> columns) {
  Heatmap map{.title = std::move(title),
              .rows = std::move(rows),
              .columns = std::move(columns),
              .row_count = values.rows,
              .column_count = values.cols};
  for (int64_t i = 0; i < values.rows; ++i)
    for (int64_t j = 0; j < values.cols; ++j) map.values.push_back(static_cast<float>(values(i, j)));
  return map;
}

Heatmap folded(std::string title, const real* values, int64_t count) {
  int64_t rows = 1;
  for (int64_t n = 1; 2 * n * n <= count; ++n)
    if (count % n == 0) rows = n;
  const int64_t cols = count / rows;
  Heatmap map = heatmap_of(std::move(title), {values, rows, cols});
  for (int64_t i = 0; i < rows; ++i) map.rows.push_back(std::to_string(i * cols));
  for (int64_t j = 0; j < cols; ++j) map.columns.push_back("+" + std::to_string(j));
  return map;
}

double ColorRange::fraction(double value) const { return std::clamp((value - low) / (high - low), 0.0, 1.0); }

ColorRange range_of(const Heatmap& map) {
  ColorRange range{0, 0};
  widen(range, map);
  return finished(range);
}

ColorRange range_of(const Picture& picture) {
  ColorRange range{0, 0};
  for (const Heatmap& map : picture.maps) widen(range, map);
  return finished(range);
}

Rgb color_of(double value, const ColorRange& range) {
  if (!std::isfinite(value)) return kNone;
  const auto& stops = range.is_signed() ? kSigned : kOneSign;
  const double at = range.fraction(value) * static_cast<double>(stops.size() - 1);
  const auto below = std::min(static_cast<size_t>(at), stops.size() - 2);
  const double part = at - static_cast<double>(below);
  Rgb color;
  for (size_t i = 0; i < 3; ++i)
    color[i] = static_cast<int>(std::lround(stops[below][i] * (1 - part) + stops[below + 1][i] * part));
  return color;
}

std::string to_csv(const Picture& picture) {
  std::string text = "map,row,column,row_label,column_label,value\n";
  for (const Heatmap& map : picture.maps)
    for (int64_t i = 0; i < map.row_count; ++i)
      for (int64_t j = 0; j < map.column_count; ++j)
        text += fmt::format("{},{},{},{},{},{}\n", csv_field(map.title), i, j, csv_field(map.row_label(i)),
                            csv_field(map.column_label(j)), map.at(i, j));
  return text;
}

nlohmann::ordered_json to_json(const Picture& picture) {
  nlohmann::ordered_json maps = nlohmann::ordered_json::array();
  for (const Heatmap& map : picture.maps) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (int64_t i = 0; i < map.row_count; ++i) {
      nlohmann::ordered_json row = nlohmann::ordered_json::array();  // JSON has no infinity: null
      for (int64_t j = 0; j < map.column_count; ++j)
        row.push_back(std::isfinite(map.at(i, j)) ? nlohmann::ordered_json(map.at(i, j)) : nlohmann::ordered_json());
      values.push_back(std::move(row));
    }
    maps.push_back({{"title", map.title},
                    {"row_name", map.row_name},
                    {"column_name", map.column_name},
                    {"rows", map.rows},
                    {"columns", map.columns},
                    {"values", std::move(values)}});
  }
  return {{"title", picture.title}, {"maps", std::move(maps)}};
}

Heatmap pooled(const Heatmap& map, int64_t most) {
  most = std::max<int64_t>(most, 1);
  if (map.column_count <= most) return map;
  const int64_t run = (map.column_count + most - 1) / most, count = (map.column_count + run - 1) / run;
  Heatmap result = map;
  result.column_count = count;
  result.values.clear();
  result.columns.clear();
  for (int64_t j = 0; j < count; ++j)
    result.columns.push_back(map.column_label(j * run) + "-" +
                             map.column_label(std::min((j + 1) * run, map.column_count) - 1));
  for (int64_t i = 0; i < map.row_count; ++i)
    for (int64_t j = 0; j < count; ++j) {
      float strongest = map.at(i, j * run);
      for (int64_t k = j * run + 1; k < std::min((j + 1) * run, map.column_count); ++k)
        if (!std::isfinite(strongest) || std::abs(map.at(i, k)) > std::abs(strongest)) strongest = map.at(i, k);
      result.values.push_back(strongest);
    }
  return result;
}

}  // namespace limpid
