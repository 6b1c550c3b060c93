// Heatmaps as SVG: self-contained, fonts by family only, sizes that print well.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inspect/display_text.h"
#include "inspect/heatmap.h"
#include "inspect/svg_text.h"

namespace limpid {
namespace {

constexpr double kFont = 11, kTitleFont = 12, kMaxCell = 20, kMinCell = 1, kMapGap = 26;
constexpr double kLabelledCell = 10;  // the smallest that has room for its label
constexpr double kGrowth = 2;         // pictures of labelled cells may be so many times as wide as the style says
constexpr double kCharacter = 0.58;   // width of a cell of text, in sizes of the font
constexpr double kBarWidth = 12, kBarRoom = 62;
constexpr int64_t kMostColumns = 1024;  // more are pooled: they could not be told apart
constexpr int64_t kMostLabel = 26;      // cells of text

std::string label_text(const std::string& label) { return cut_to(label, kMostLabel); }

std::string hex(const Rgb& c) { return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]); }

// Sizes of one map in pixels.
struct Plan {
  double cell_width = 0, cell_height = 0;
  double left = 0, top = 0;               // room for labels and titles
  int64_t row_step = 1, column_step = 1;  // every so many labels are written

  double map_width = 0, map_height = 0;
  double title_width = 0;
  double width(bool bar) const { return left + std::max(map_width + (bar ? kBarRoom : 0), title_width); }
  double height() const { return top + map_height + 4; }
};

double longest(const Heatmap& map, bool rows) {
  int64_t cells = 0;
  for (int64_t i = 0; i < (rows ? map.row_count : map.column_count); ++i)
    cells = std::max(cells, display_width(label_text(rows ? map.row_label(i) : map.column_label(i))));
  return static_cast<double>(cells) * kFont * kCharacter;
}

// Both sides are named: tokens that look at tokens.
bool pairs_tokens(const Heatmap& map) {
  return !map.rows.empty() && !map.columns.empty() && map.column_count <= kMostColumns;
}

Plan plan_map(const Heatmap& map, double width, bool bar) {
  Plan plan;
  plan.left = longest(map, true) + 8 + (map.row_name.empty() ? 0 : kFont + 6);
  const double room = std::max(width - plan.left - (bar ? kBarRoom : 0), 60.0);
  plan.cell_width = std::clamp(room / static_cast<double>(map.column_count), kMinCell, kMaxCell);
  plan.cell_height = std::clamp(600 / static_cast<double>(map.row_count), 4.0, kMaxCell);
  if (pairs_tokens(map))  // square, and every token has its label
    plan.cell_width = plan.cell_height = std::max(std::min(plan.cell_width, plan.cell_height), kLabelledCell);
  else if (plan.cell_width < plan.cell_height && map.row_count > 1)
    plan.cell_height = std::max(plan.cell_width, map.row_count <= 60 ? 12.0 : 5.0);
  plan.map_width = plan.cell_width * static_cast<double>(map.column_count);
  plan.map_height = plan.cell_height * static_cast<double>(map.row_count);
  const auto step = [](double cell) {
    return std::max<int64_t>(static_cast<int64_t>(std::ceil(0.9 * kFont / cell)), 1);
  };
  plan.row_step = step(plan.cell_height);
  plan.column_step = step(plan.cell_width);
  if (plan.column_step > 1)  // a round number
    for (int64_t round : {2, 4, 8, 16, 32, 64, 128})
      if (round >= plan.column_step) {
        plan.column_step = round;
        break;
      }
  plan.title_width = static_cast<double>(display_width(map.title)) * kTitleFont * kCharacter;
  plan.top =
      longest(map, false) + 10 + (map.title.empty() ? 0 : kTitleFont + 8) + (map.column_name.empty() ? 0 : kFont + 5);
  return plan;
}

std::string draw_bar(const ColorRange& range, double x, double y, double height, int id) {
  constexpr int kStops = 32;
  height = std::min(height, 180.0);
  std::string svg = fmt::format("<linearGradient id=\"scale{}\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">", id);
  for (int i = 0; i <= kStops; ++i) {
    const double part = static_cast<double>(i) / kStops;
    svg += fmt::format("<stop offset=\"{:.4f}\" stop-color=\"{}\"/>", part,
                       hex(color_of(range.low + part * (range.high - range.low), range)));
  }
  svg += "</linearGradient>\n";
  svg += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"url(#scale{})\" stroke=\"#888\" "
      "stroke-width=\".6\"/>\n",
      x, y, kBarWidth, height, id);
  const std::vector<double> marks = height < 40 ? std::vector<double>{0.0, 1.0} : std::vector<double>{0.0, 0.5, 1.0};
  for (double part : marks)
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"mark\">{}</text>\n", x + kBarWidth + 4,
                       y + height * (1 - part) + 4, number_text(range.low + part * (range.high - range.low)));
  return svg;
}

std::string draw_labels(const Heatmap& map, const Plan& plan, double x, double y) {
  std::string svg;
  for (int64_t i = 0; i < map.row_count; i += plan.row_step)
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"row\">{}</text>\n", x - 5,
                       y + (static_cast<double>(i) + 0.5) * plan.cell_height + kFont * 0.35,
                       svg_escaped(label_text(map.row_label(i))));
  for (int64_t j = 0; j < map.column_count; j += plan.column_step) {
    const double at = x + (static_cast<double>(j) + 0.5) * plan.cell_width + kFont * 0.35;
    svg += fmt::format("<text transform=\"translate({:.1f},{:.1f}) rotate(-90)\">{}</text>\n", at, y - 5,
                       svg_escaped(label_text(map.column_label(j))));
  }
  return svg;
}

std::string draw_cells(const Heatmap& map, const Plan& plan, const ColorRange& range, double x, double y, bool hover) {
  std::string svg = "<g shape-rendering=\"crispEdges\">\n";
  for (int64_t i = 0; i < map.row_count; ++i)
    for (int64_t j = 0; j < map.column_count; ++j) {
      const auto value = static_cast<double>(map.at(i, j));
      svg += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"",
                         x + static_cast<double>(j) * plan.cell_width, y + static_cast<double>(i) * plan.cell_height,
                         plan.cell_width, plan.cell_height, hex(color_of(value, range)));
      svg += hover ? fmt::format("><title>{}, {}: {}</title></rect>\n", svg_escaped(map.row_label(i)),
                                 svg_escaped(map.column_label(j)), number_text(value))
                   : std::string("/>\n");
    }
  return svg + "</g>\n" +
         fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"frame\"/>\n", x, y,
                     plan.map_width, plan.map_height);
}

std::string draw_map(const Heatmap& map, const Plan& plan, const ColorRange& range, double x, double y, bool hover) {
  std::string svg;
  const double left = x + plan.left, top = y + plan.top;
  double line = y + kTitleFont;
  if (!map.title.empty()) {
    svg +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"title\">{}</text>\n", left, line, svg_escaped(map.title));
    line += kFont + 7;
  }
  if (!map.column_name.empty())
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"name\">{} →</text>\n", left, line,
                       svg_escaped(map.column_name));
  if (!map.row_name.empty())
    svg += fmt::format(
        "<text transform=\"translate({:.1f},{:.1f}) rotate(-90)\" class=\"name\" text-anchor=\"middle\">← {}</text>\n",
        x + kFont, top + plan.map_height / 2, svg_escaped(map.row_name));
  return svg + draw_labels(map, plan, left, top) + draw_cells(map, plan, range, left, top, hover);
}

// The width that each of so many maps in a row gets.
double share_of(const SvgStyle& style, int64_t per_row, bool one_bar) {
  return (style.width - static_cast<double>(per_row - 1) * kMapGap - (one_bar ? kBarRoom : 0)) /
         static_cast<double>(per_row);
}

// How many maps stand side by side: as many as the picture asks for, or a half, a quarter, … of them, so that the
// heads of a layer stay together.
int64_t maps_per_row(const Picture& picture, const SvgStyle& style, bool one_bar) {
  auto per_row =
      std::clamp<int64_t>(picture.per_row, 1, std::max<int64_t>(static_cast<int64_t>(picture.maps.size()), 1));
  const auto widest = [&] {
    double width = 0;
    for (const Heatmap& map : picture.maps)
      width = std::max(width, plan_map(map, share_of(style, per_row, one_bar), !one_bar).width(!one_bar));
    return width * static_cast<double>(per_row);
  };
  const bool labelled = std::any_of(picture.maps.begin(), picture.maps.end(), pairs_tokens);
  while (labelled && per_row > 1 && widest() > kGrowth * style.width) per_row = (per_row + 1) / 2;
  return per_row;
}

}  // namespace

std::string to_svg(const Picture& picture, const SvgStyle& style) {
  const ColorRange all = range_of(picture);
  const bool one_bar = picture.shared_range && picture.maps.size() > 1;
  const int64_t per_row = maps_per_row(picture, style, one_bar);
  const double share = share_of(style, per_row, one_bar);
  const double head = picture.title.empty() ? 8 : 36;
  double y = head, width = 200;
  std::string body;
  for (size_t begin = 0; begin < picture.maps.size(); begin += static_cast<size_t>(per_row)) {
    double x = 8, height = 0;
    for (size_t i = begin; i < std::min(begin + static_cast<size_t>(per_row), picture.maps.size()); ++i) {
      const Heatmap map = pooled(picture.maps[i], kMostColumns);
      const ColorRange range = picture.shared_range ? all : range_of(map);
      const Plan plan = plan_map(map, share, !one_bar);
      body += draw_map(map, plan, range, x, y, style.hover);
      if (!one_bar)
        body +=
            draw_bar(range, x + plan.left + plan.map_width + 10, y + plan.top, plan.map_height, static_cast<int>(i));
      x += plan.width(!one_bar) + kMapGap;
      height = std::max(height, plan.height());
    }
    width = std::max(width, x - kMapGap);
    y += height + kMapGap * 0.6;
  }
  if (one_bar) {
    body += draw_bar(all, width + 12, head + 30, 160, 0);
    width += kBarRoom;
    y = std::max(y, head + 210);
  }
  width = std::max(width, static_cast<double>(display_width(picture.title)) * 15 * kCharacter) + 8;
  return svg_begin(width, y, picture.title) + body + "</svg>\n";
}

}  // namespace limpid
