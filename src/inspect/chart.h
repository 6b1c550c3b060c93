#pragma once
// Charts: curves and clouds of points over two axes, in a terminal or as SVG. Colours can be told apart by colour-blind
// people (Okabe and Ito 2008).

#include <string>
#include <vector>

#include "inspect/heatmap.h"

namespace limpid {

struct ChartPoint {
  double x = 0, y = 0;
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
  bool line = true;    // false: points alone
  double opacity = 1;  // of points where many lie on each other
};

struct ChartGuide {
  double y = 0;  // a thin line at this height
  std::string name;
};

struct Chart {
  std::string title, x_name, y_name;
  std::vector<ChartSeries> series;
  std::vector<ChartGuide> guides;
  bool log_x = false;
  double low = 0, high = 0;          // of y; equal: those of the points
  double width = 560, height = 300;  // of what lies between the axes, in an SVG
};

std::string to_svg(const Chart& chart);
std::string to_terminal(const Chart& chart, const TerminalStyle& style);

// Dots in a terminal, 2×4 to a character (Unicode's Braille patterns), with letters over them.
class DotCanvas {
 public:
  DotCanvas(int64_t columns, int64_t lines);
  int64_t width() const { return 2 * columns_; }  // in dots
  int64_t height() const { return 4 * static_cast<int64_t>(marks_.size()); }
  void dot(int64_t x, int64_t y);  // from the upper left corner; outside: nothing happens
  void line(double x0, double y0, double x1, double y1);
  void text(int64_t x, int64_t y, const std::string& text);  // over the character that this dot is in
  std::vector<std::string> lines() const;

 private:
  int64_t columns_;
  std::vector<std::vector<unsigned char>> marks_;  // bits of each character's dots
  std::vector<std::vector<std::string>> letters_;
};

const char* series_color(size_t i);

}  // namespace limpid
