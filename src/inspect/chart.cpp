#include "inspect/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "inspect/display_text.h"
#include "inspect/svg_text.h"

namespace limpid {
namespace {

constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};

// A step of 1, 2 or 5 times a power of ten that cuts the range into about `wanted` parts.
double round_step(double range, int wanted) {
  const double rough = range / wanted, power = std::pow(10, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

// Powers of the base on a logarithmic axis, of so many that at most nine remain.
std::vector<double> power_marks(double base, double low, double high) {
  constexpr int kMost = 9;
  const int first = static_cast<int>(std::ceil(std::log(low) / std::log(base) - 1e-6)),
            last = static_cast<int>(std::floor(std::log(high) / std::log(base) + 1e-6));
  const int step = (last - first) / kMost + 1;
  std::vector<double> at;
  for (int power = first; power <= last; power += step) at.push_back(std::pow(base, power));
  return at;
}

// A number beside an axis: large powers of ten as such.
std::string mark_text(double value) {
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const double power = value > 0 ? std::log10(value) : 0;
  if (power < 5 || std::abs(power - std::round(power)) > 1e-6) return number_text(value);
  std::string text = "10";
  for (const char digit : std::to_string(std::lround(power))) text += kDigits[digit - '0'];
  return text;
}

struct Axis {
  double low = 0, high = 1;
  bool log = false;
  bool whole = true;     // only whole numbers lie on it
  bool doubling = true;  // only powers of two

  double part(double value) const {  // 0 … 1 along the axis
    if (log) return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
    return (value - low) / (high - low);
  }
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
    whole = whole && value == std::round(value);
    int exponent = 0;
    doubling = doubling && std::frexp(value, &exponent) == 0.5;
  }
  std::vector<double> marks() const {
    std::vector<double> at;
    if (log && doubling) return power_marks(2, low, high);
    if (log && high > 1000 * low) return power_marks(10, low, high);
    if (log) {
      for (double power = std::pow(10, std::floor(std::log10(low))); power <= high * 1.0001; power *= 10)
        for (double factor : {1.0, 2.0, 5.0})
          if (factor * power >= low * 0.9999 && factor * power <= high * 1.0001) at.push_back(factor * power);
      return at;
    }
    const double step = std::max(round_step(high - low, 6), whole ? 1.0 : 0.0);
    for (double value = std::ceil(low / step - 1e-9) * step; value <= high + 1e-9 * step; value += step)
      at.push_back(std::abs(value) < 1e-9 * step ? 0 : value);
    return at;
  }
};

struct Axes {
  Axis x, y;
};

Axes axes_of(const Chart& chart) {
  constexpr double kMost = std::numeric_limits<double>::infinity();
  Axes axes{.x = {.low = kMost, .high = -kMost, .log = chart.log_x}, .y = {.low = kMost, .high = -kMost}};
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points) {
      axes.x.take(point.x);
      axes.y.take(point.y);
    }
  axes.y.whole = false;
  if (chart.low < chart.high) axes.y = {.low = chart.low, .high = chart.high, .whole = false};
  if (!(axes.x.low < axes.x.high)) axes.x = {};
  if (!(axes.y.low < axes.y.high)) axes.y = {.low = axes.y.low - 1, .high = axes.y.low + 1, .whole = false};
  return axes;
}

// What stands left of each line of a chart: a number at every fourth one and at the last.
std::vector<std::string> y_marks(const Axis& axis, int64_t lines) {
  std::vector<std::string> marks(static_cast<size_t>(lines));
  for (int64_t i = 0; i < lines; ++i) {
    if (i % 4 != 0 && i + 1 != lines) continue;
    const double part = 1 - static_cast<double>(i) / static_cast<double>(lines - 1);
    const double value = axis.low + part * (axis.high - axis.low);
    const bool whole = std::abs(value) >= 1000 && std::abs(value) < 1e6;  // no 3.5e+04
    marks[static_cast<size_t>(i)] = whole ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
  }
  return marks;
}

// Where the numbers of a chart lie on the paper.
struct Frame {
  Axes axes;
  double width, height;
  double left = 58, top = 40;

  double x(double value) const { return left + axes.x.part(value) * width; }
  double y(double value) const { return top + (1 - axes.y.part(value)) * height; }
};

std::string draw_axes(const Chart& chart, const Frame& frame) {
  std::string svg;
  for (double mark : frame.axes.y.marks())
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"#e4e4e4\"/><text x=\"{3:.1f}\" "
        "y=\"{4:.1f}\" class=\"row mark\">{5}</text>\n",
        frame.left, frame.y(mark), frame.left + frame.width, frame.left - 6, frame.y(mark) + 3.5, mark_text(mark));
  for (double mark : frame.axes.x.marks())
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#888\"/><text x=\"{0:.1f}\" "
        "y=\"{3:.1f}\" class=\"mark\" text-anchor=\"middle\">{4}</text>\n",
        frame.x(mark), frame.top + frame.height, frame.top + frame.height + 4, frame.top + frame.height + 16,
        mark_text(mark));
  double name_at = 0;  // names of guides that lie close together stand below one another
  for (const ChartGuide& guide : chart.guides) {
    name_at = std::max(frame.y(guide.y) + 3.5, name_at + 12);
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"#999\" stroke-dasharray=\"4 "
        "3\"/><text x=\"{3:.1f}\" y=\"{4:.1f}\" class=\"mark\">{5}</text>\n",
        frame.left, frame.y(guide.y), frame.left + frame.width, frame.left + frame.width + 6, name_at,
        svg_escaped(guide.name));
  }
  svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"frame\"/>\n",
                     frame.left, frame.top, frame.width, frame.height);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"name\" text-anchor=\"middle\">{}</text>\n",
                     frame.left + frame.width / 2, frame.top + frame.height + 34, svg_escaped(chart.x_name));
  svg += fmt::format(
      "<text transform=\"translate(14,{:.1f}) rotate(-90)\" class=\"name\" text-anchor=\"middle\">{}</text>\n",
      frame.top + frame.height / 2, svg_escaped(chart.y_name));
  return svg;
}

std::string draw_series(const ChartSeries& series, const Frame& frame, const char* color) {
  std::string svg;
  if (series.line) {
    svg += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" points=\"", color);
    for (const ChartPoint& point : series.points)
      svg += fmt::format("{:.1f},{:.1f} ", frame.x(point.x), frame.y(point.y));
    svg += "\"/>\n";
  }
  for (const ChartPoint& point : series.points)
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" fill-opacity=\"{}\"><title>{}: {}, "
        "{}</title></circle>\n",
        frame.x(point.x), frame.y(point.y), series.line ? 2 : 2.2, color, series.opacity, svg_escaped(series.name),
        number_text(point.x), number_text(point.y));
  return svg;
}

}  // namespace

const char* series_color(size_t i) { return kColors[i % std::size(kColors)]; }

std::string to_svg(const Chart& chart) {
  double guides = 0;
  for (const ChartGuide& guide : chart.guides)
    guides = std::max(guides, 7.0 * static_cast<double>(display_width(guide.name)));
  const Frame frame{
      .axes = axes_of(chart), .width = chart.width, .height = chart.height, .top = chart.title.empty() ? 12.0 : 40.0};
  const double width = frame.left + frame.width + std::max(guides + 10, 24.0), foot = frame.top + frame.height + 54;
  std::string svg =
      svg_begin(width, foot + 18 * static_cast<double>(chart.series.size()), chart.title) + draw_axes(chart, frame);
  for (size_t i = 0; i < chart.series.size(); ++i) {
    svg += draw_series(chart.series[i], frame, series_color(i));
    const double y = foot + 18 * static_cast<double>(i);
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"4\" fill=\"{}\"/><text x=\"{:.1f}\" "
        "y=\"{:.1f}\">{}</text>\n",
        frame.left, y - 6, series_color(i), frame.left + 20, y, svg_escaped(chart.series[i].name));
  }
  return svg + "</svg>\n";
}

std::string to_terminal(const Chart& chart, const TerminalStyle& style) {
  constexpr int64_t kLines = 14;
  const Axes axes = axes_of(chart);
  const std::vector<std::string> marks = y_marks(axes.y, kLines);
  int64_t margin = 7;
  for (const std::string& mark : marks) margin = std::max(margin, display_width(mark));
  DotCanvas canvas(std::clamp<int64_t>(style.width - margin - 3, 10, 90), kLines);
  const auto x_of = [&](double x) { return axes.x.part(x) * static_cast<double>(canvas.width() - 1); };
  const auto y_of = [&](double y) { return (1 - axes.y.part(y)) * static_cast<double>(canvas.height() - 1); };
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const std::vector<ChartPoint>& points = chart.series[i].points;
    for (size_t p = 0; p < points.size(); ++p) {
      canvas.dot(std::lround(x_of(points[p].x)), std::lround(y_of(points[p].y)));
      if (chart.series[i].line && p > 0)
        canvas.line(x_of(points[p - 1].x), y_of(points[p - 1].y), x_of(points[p].x), y_of(points[p].y));
    }
    if (!points.empty() && chart.series.size() > 1)
      canvas.text(std::lround(x_of(points.back().x)), std::lround(y_of(points.back().y)),
                  std::string(1, static_cast<char>('A' + i)));
  }
  std::string text = chart.title + "\n";
  const std::vector<std::string> lines = canvas.lines();
  for (size_t i = 0; i < lines.size(); ++i) {
    text += pad_left(marks[i], margin) + "│" + lines[i] + "\n";
  }
  const std::string from = number_text(axes.x.low), to = number_text(axes.x.high);
  const std::string indent(static_cast<size_t>(margin) + 1, ' ');
  text += indent + from + "  " + chart.x_name + (chart.log_x ? " (logarithmic)" : "") + "  " + to + "\n";
  for (size_t i = 0; i < chart.series.size() && chart.series.size() > 1; ++i)
    text += fmt::format("{}{}: {}\n", indent, static_cast<char>('A' + i), chart.series[i].name);
  return text;
}

DotCanvas::DotCanvas(int64_t columns, int64_t lines)
    : columns_(columns),
      marks_(static_cast<size_t>(lines), std::vector<unsigned char>(static_cast<size_t>(columns))),
      letters_(static_cast<size_t>(lines), std::vector<std::string>(static_cast<size_t>(columns))) {}

void DotCanvas::dot(int64_t x, int64_t y) {
  constexpr unsigned char kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};  // Unicode's order
  if (x < 0 || y < 0 || x >= width() || y >= height()) return;
  marks_[y / 4][x / 2] |= kBits[y % 4][x % 2];
}

void DotCanvas::line(double x0, double y0, double x1, double y1) {
  const auto steps = std::max<int64_t>(std::lround(std::max(std::abs(x1 - x0), std::abs(y1 - y0))), 1);
  for (int64_t i = 0; i <= steps; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(steps);
    dot(std::lround(x0 + part * (x1 - x0)), std::lround(y0 + part * (y1 - y0)));
  }
}

void DotCanvas::text(int64_t x, int64_t y, const std::string& text) {
  int64_t column = std::clamp<int64_t>(x / 2, 0, columns_ - 1);
  const auto line = std::clamp<int64_t>(y / 4, 0, static_cast<int64_t>(marks_.size()) - 1);
  for (const std::string& letter : characters(text))
    if (column < columns_) letters_[line][column++] = letter;
}

std::vector<std::string> DotCanvas::lines() const {
  std::vector<std::string> lines;
  for (size_t y = 0; y < marks_.size(); ++y) {
    std::string text;
    for (size_t x = 0; x < marks_[y].size(); ++x) {
      const unsigned char bits = marks_[y][x];
      if (!letters_[y][x].empty())
        text += letters_[y][x];
      else if (bits == 0)
        text += ' ';
      else  // U+2800 + bits
        text +=
            {static_cast<char>(0xe2), static_cast<char>(0xa0 | (bits >> 6)), static_cast<char>(0x80 | (bits & 0x3f))};
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

}  // namespace limpid
