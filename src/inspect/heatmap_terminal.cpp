// Heatmaps in a terminal: two cells per column, one line per row.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inspect/display_text.h"
#include "inspect/heatmap.h"

namespace limpid {
namespace {

constexpr int64_t kMostRowLabel = 20;   // cells of a row's label
constexpr int64_t kMostLabelLines = 6;  // lines of column labels, written downwards
constexpr int64_t kGap = 3;             // between maps side by side

using Lines = std::vector<std::string>;

// Plain characters, weak to strong; positive and negative have their own.
std::string plain_cell(double value, const ColorRange& range) {
  constexpr const char* kShades[] = {" ", "░", "▒", "▓", "█"};
  constexpr const char* kPositive[] = {" ", "+", "*", "#", "@"};
  constexpr const char* kNegative[] = {" ", "-", "~", "=", "%"};
  if (!std::isfinite(value)) return "··";
  const double strength = std::min(std::abs(value) / range.high, 1.0);
  const auto level = static_cast<size_t>(std::lround(strength * 4));
  const char* shade = (!range.is_signed() ? kShades : value < 0 ? kNegative : kPositive)[level];
  return std::string(shade) + shade;
}

std::string color_cell(double value, const ColorRange& range) {
  const Rgb c = color_of(value, range);
  return fmt::format("\x1b[48;2;{};{};{}m  ", c[0], c[1], c[2]);
}

// Labels of columns, written downwards so that each fits its column: a wide character is as wide as a column.
Lines column_labels(const Heatmap& map, int64_t margin) {
  std::vector<std::vector<std::string>> labels;
  size_t height = 0;
  for (int64_t j = 0; j < map.column_count; ++j) {
    labels.push_back(characters(map.column_label(j)));
    if (labels.back().size() > kMostLabelLines) {
      labels.back().resize(kMostLabelLines - 1);
      labels.back().emplace_back("…");
    }
    height = std::max(height, labels.back().size());
  }
  Lines lines;
  for (size_t line = 0; line < height; ++line) {
    std::string text(static_cast<size_t>(margin), ' ');
    for (const auto& label : labels) {
      const size_t skip = height - label.size();  // labels stand on the map
      text += pad_right(line >= skip ? label[line - skip] : "", 2);
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

// Where columns have numbers, or stand for several each: every eighth one's label, lying.
std::string column_ticks(const Heatmap& map, int64_t margin) {
  constexpr int64_t kEvery = 8;
  std::string text(static_cast<size_t>(margin), ' ');
  for (int64_t j = 0; j < map.column_count; j += kEvery) {
    const int64_t room = 2 * std::min(kEvery, map.column_count - j);
    text += pad_right(cut_to(map.column_label(j), room - 1), room);
  }
  return text;
}

std::string bar(const ColorRange& range, bool color) {
  constexpr int kSteps = 9;
  std::string text = fmt::format("{:.3g} ", range.low);
  for (int i = 0; i < kSteps; ++i) {
    const double value = range.low + (range.high - range.low) * i / (kSteps - 1);
    text += color ? color_cell(value, range) : plain_cell(value, range);
  }
  return text + (color ? "\x1b[0m " : " ") + fmt::format("{:.3g}", range.high);
}

struct Block {
  Lines lines;
  int64_t width = 0;
};

Block draw_map(const Heatmap& whole, const ColorRange& range, int64_t width, bool color, bool with_bar) {
  int64_t margin = 0;
  for (int64_t i = 0; i < whole.row_count; ++i)
    margin = std::max(margin, std::min(display_width(whole.row_label(i)), kMostRowLabel));
  margin += 1;
  const Heatmap map = pooled(whole, (width - margin) / 2);
  Block block{.width = margin + 2 * map.column_count};
  block.width = std::max(block.width, std::min(width, display_width(map.title)));
  if (!map.title.empty()) block.lines.push_back(cut_to(map.title, block.width));
  if (whole.columns.empty() || map.column_count < whole.column_count)
    block.lines.push_back(column_ticks(map, margin));
  else
    for (std::string& line : column_labels(map, margin)) block.lines.push_back(std::move(line));
  for (int64_t i = 0; i < map.row_count; ++i) {
    std::string line = pad_left(cut_to(map.row_label(i), margin - 1), margin - 1) + " ";
    for (int64_t j = 0; j < map.column_count; ++j) {
      const auto value = static_cast<double>(map.at(i, j));
      line += color ? color_cell(value, range) : plain_cell(value, range);
    }
    line += color ? "\x1b[0m" : "";
    line += std::string(static_cast<size_t>(block.width - margin - 2 * map.column_count), ' ');
    block.lines.push_back(std::move(line));
  }
  if (with_bar) {
    const int64_t used = display_width(fmt::format("{:.3g}{:.3g}", range.low, range.high)) + 20;
    block.width = std::max(block.width, used);
    block.lines.push_back(bar(range, color) + std::string(static_cast<size_t>(block.width - used), ' '));
  }
  return block;
}

// Cells that a line takes, colour sequences aside.
int64_t line_width(const std::string& line) {
  std::string plain;
  for (size_t i = 0; i < line.size(); ++i)
    if (line[i] == '\x1b')
      i = line.find('m', i);
    else
      plain += line[i];
  return display_width(plain);
}

std::string beside(const std::vector<Block>& blocks) {
  size_t height = 0;
  for (const Block& block : blocks) height = std::max(height, block.lines.size());
  std::string text;
  for (size_t line = 0; line < height; ++line) {
    std::string row;
    for (const Block& block : blocks) {
      std::string part = line < block.lines.size() ? block.lines[line] : "";
      if (&block != &blocks.back())
        part += std::string(static_cast<size_t>(std::max<int64_t>(block.width + kGap - line_width(part), 0)), ' ');
      row += part;
    }
    while (!row.empty() && row.back() == ' ') row.pop_back();
    text += row + '\n';
  }
  return text;
}

}  // namespace

std::string to_terminal(const Picture& picture, const TerminalStyle& style) {
  std::string text = picture.title.empty() ? "" : picture.title + "\n\n";
  const ColorRange all = range_of(picture);
  const bool one_bar = picture.shared_range && picture.maps.size() > 1;
  // As many side by side as asked for, as long as each has room for its columns or a fair share of the line.
  for (size_t next = 0; next < picture.maps.size();) {
    std::vector<Block> blocks;
    int64_t used = 0;
    while (next < picture.maps.size() && static_cast<int64_t>(blocks.size()) < picture.per_row) {
      const Heatmap& map = picture.maps[next];
      const ColorRange range = picture.shared_range ? all : range_of(map);
      const int64_t room = style.width - used;
      Block block = draw_map(map, range, blocks.empty() ? style.width : room, style.color, !one_bar);
      const bool squeezed = !blocks.empty() && (block.width > room || room < kMostRowLabel + 2 * map.column_count);
      if (squeezed) break;
      used += block.width + kGap;
      blocks.push_back(std::move(block));
      ++next;
    }
    text += beside(blocks) + (next < picture.maps.size() ? "\n" : "");
  }
  return one_bar ? text + "\n" + bar(all, style.color) + "\n" : text;
}

}  // namespace limpid
