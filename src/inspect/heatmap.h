#pragma once
// Heatmaps: a matrix of numbers with names of rows and columns, alone or several side by side; drawn in a terminal or
// as SVG, and the same numbers as CSV and JSON.
//
// Colours: what has both signs goes from blue (negative) over white (zero) to red, the same distance from zero equally
// strong; what has one sign from white to blue. Both can be told apart by colour-blind people (ColorBrewer's RdBu and
// Blues). Minus infinity (what a mask forbids) and NaN are grey.

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tensor/matrix.h"

namespace limpid {

struct Heatmap {
  std::string title;
  std::string row_name, column_name;       // what they are: "query", "neuron"; may be empty
  std::vector<std::string> rows, columns;  // labels; empty: their numbers
  int64_t row_count = 0, column_count = 0;
  std::vector<float> values;  // (row_count, column_count)

  float at(int64_t row, int64_t column) const { return values[row * column_count + column]; }
  std::string row_label(int64_t i) const { return rows.empty() ? std::to_string(i) : rows[i]; }
  std::string column_label(int64_t i) const { return columns.empty() ? std::to_string(i) : columns[i]; }
};

Heatmap heatmap_of(std::string title, ConstMatrix values, std::vector<std::string> rows = {},
                   std::vector<std::string> columns = {});
// A vector folded into rows of equal length, as near to twice as wide as high as its length allows.
Heatmap folded(std::string title, const real* values, int64_t count);

struct Picture {
  std::string title;
  std::vector<Heatmap> maps;
  int64_t per_row = 2;        // maps side by side
  bool shared_range = false;  // one scale for all, so that colours compare
};

// What the ends of the scale stand for.
struct ColorRange {
  double low = 0, high = 1;
  bool is_signed() const { return low < 0; }
  double fraction(double value) const;  // in [0, 1]
};
ColorRange range_of(const Heatmap& map);      // of the finite values; symmetric where some are negative
ColorRange range_of(const Picture& picture);  // of all maps together

using Rgb = std::array<int, 3>;
Rgb color_of(double value, const ColorRange& range);

struct TerminalStyle {
  int64_t width = 80;
  bool color = true;  // 24-bit colours; false: plain characters
};
std::string to_terminal(const Picture& picture, const TerminalStyle& style);

struct SvgStyle {
  double width = 900;  // pixels at most, for maps side by side
  bool hover = true;   // the value of each cell as its <title>
};
std::string to_svg(const Picture& picture, const SvgStyle& style = {});

std::string to_csv(const Picture& picture);  // map,row,column,row_label,column_label,value
nlohmann::ordered_json to_json(const Picture& picture);

// Columns pooled so that at most `most` remain: of each run the value farthest from zero, so that nothing strong is
// lost. The labels say the run: "24-31".
Heatmap pooled(const Heatmap& map, int64_t most);

}  // namespace limpid
