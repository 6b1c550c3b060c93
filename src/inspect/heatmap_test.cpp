#include "inspect/heatmap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "inspect/display_text.h"
#include "inspect/pictures.h"
#include "inspect/small_session.h"

namespace limpid {
namespace {

using testing::HasSubstr;

Heatmap small_map() {
  const std::vector<real> values = {-1, 0, 2, 0.5};
  return heatmap_of("a & b", {values.data(), 2, 2}, {"나는", "<x>"}, {"c", "d"});
}

TEST(DisplayText, EastAsianCharactersTakeTwoCells) {
  EXPECT_EQ(display_width("ab"), 2);
  EXPECT_EQ(display_width("책을"), 4);
  EXPECT_EQ(pad_left("책", 4), "  책");
  EXPECT_EQ(cut_to("책을읽어요", 5), "책을…");
  EXPECT_EQ(visible("a b\n"), "a·b↵");
}

TEST(Heatmap, ASignedScaleIsSymmetric) {
  const ColorRange range = range_of(small_map());
  EXPECT_EQ(range.low, -2);
  EXPECT_EQ(range.high, 2);
  EXPECT_EQ(color_of(0, range), (Rgb{247, 247, 247}));
  EXPECT_GT(color_of(2, range)[0], color_of(2, range)[2]);    // red
  EXPECT_GT(color_of(-2, range)[2], color_of(-2, range)[0]);  // blue
  EXPECT_EQ(color_of(-std::numeric_limits<double>::infinity(), range), (Rgb{205, 205, 205}));
}

TEST(Heatmap, SharedRangesCoverAllMaps) {
  Picture picture{.maps = {small_map(), small_map()}};
  picture.maps[1].values[0] = -7;
  EXPECT_EQ(range_of(picture).high, 7);
  picture.maps[1].values[0] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(range_of(picture).high, 2);
}

TEST(Heatmap, EveryLineFitsTheTerminal) {
  Heatmap map = small_map();
  map.column_count = 300;
  map.columns.clear();
  map.values.assign(600, 0.25F);
  map.values[599] = -3;
  const std::string text = to_terminal({.maps = {map}}, {.width = 60, .color = false});
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_LE(display_width(text.substr(begin, end - begin)), 60);
  EXPECT_THAT(text, HasSubstr("%%"));  // the strongest value survives pooling
}

TEST(Heatmap, EveryFamilyHasAPictureOfABlock) {  // of mixtures of experts, what the router chooses
  for (const auto& [name, json] : small_configs()) {
    SCOPED_TRACE(name);
    const SmallSession small(name);
    const Config& config = small.session.config();
    if (config.recurrent()) continue;
    const Picture picture = block_picture(small.session, small.example(), {});
    ASSERT_EQ(picture.maps.size(), config.feed_forward ? 4U : 1U);
    for (const Heatmap& map : picture.maps) EXPECT_GT(map.values.size(), 0U);
    if (config.experts.count > 0) {
      EXPECT_EQ(picture.maps[1].column_count, config.experts.count);
      EXPECT_EQ(picture.maps[2].column_count, config.experts.chosen);
    }
  }
}

TEST(Heatmap, WideLabelsKeepColumnsUnderEachOther) {
  const std::string text = to_terminal({.maps = {small_map()}}, {.width = 60, .color = false});
  EXPECT_THAT(text, HasSubstr("나는 ~~\n <x> @@++\n"));
  EXPECT_THAT(text, HasSubstr("     c d"));
}

TEST(Heatmap, SvgHasEveryValueAndEscapesText) {
  const std::string svg = to_svg({.title = "t", .maps = {small_map()}, .per_row = 1});
  EXPECT_THAT(svg, HasSubstr("<title>나는, c: −1</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>&lt;x&gt;, d: 0.5</title>"));
  EXPECT_THAT(svg, HasSubstr("a &amp; b"));
  EXPECT_THAT(svg, HasSubstr("linearGradient"));
}

// Eight maps side by side of thirty tokens each: cells stay square and every token keeps its label.
TEST(Heatmap, TokensThatLookAtTokensAreSquareAndAllLabelled) {
  Heatmap map{.title = "head", .row_count = 30, .column_count = 30, .values = std::vector<float>(900, 0.5F)};
  for (int i = 0; i < 30; ++i) {
    map.rows.push_back("row" + std::to_string(i) + "!");
    map.columns.push_back("column" + std::to_string(i) + "!");
  }
  const std::string svg =
      to_svg({.maps = std::vector<Heatmap>(8, map), .per_row = 8, .shared_range = true}, {.hover = false});
  for (int i = 0; i < 30; ++i) {
    EXPECT_THAT(svg, HasSubstr(">row" + std::to_string(i) + "!<"));
    EXPECT_THAT(svg, HasSubstr(">column" + std::to_string(i) + "!<"));
  }
  EXPECT_THAT(svg, HasSubstr("width=\"10.00\" height=\"10.00\""));
}

TEST(Heatmap, TablesHaveTheSameNumbers) {
  Picture picture{.maps = {small_map()}};
  picture.maps[0].values[1] = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(to_csv(picture), HasSubstr("a & b,1,0,<x>,c,2\n"));
  EXPECT_EQ(to_json(picture)["maps"][0]["values"].dump(), "[[-1.0,null],[2.0,0.5]]");
}

TEST(Heatmap, AVectorIsFoldedWithoutLoss) {
  std::vector<real> values(512);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<real>(i);
  const Heatmap map = folded("v", values.data(), 512);
  EXPECT_EQ(map.row_count, 16);
  EXPECT_EQ(map.column_count, 32);
  EXPECT_EQ(map.at(3, 5), 3 * 32 + 5);
}

}  // namespace
}  // namespace limpid
