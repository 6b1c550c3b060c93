// The map of two dimensions as SVG.

#include <algorithm>
#include <limits>

#include "inspect/embeddings.h"
#include "inspect/svg_text.h"

namespace limpid {

std::string scatter_svg(const Projection2d& projection, const std::vector<std::string>& labels,
                        const std::string& title) {
  constexpr double kSize = 620, kMargin = 56;
  double most = 1e-30;  // the same scale on both axes: distances mean the same everywhere
  for (const auto& point : projection.points) most = std::max({most, std::abs(point[0]), std::abs(point[1])});
  const double factor = (kSize / 2 - kMargin) / most;
  std::string svg = svg_begin(kSize, kSize + 30, title);
  const auto axis = [&](double x1, double y1, double x2, double y2) {
    svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ccc\"/>\n", x1, y1, x2,
                       y2);
  };
  axis(kMargin / 2, kSize / 2 + 20, kSize - kMargin / 2, kSize / 2 + 20);
  axis(kSize / 2, 20 + kMargin / 2, kSize / 2, kSize + 20 - kMargin / 2);
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"name\" text-anchor=\"end\">{:.0f} % of the variance</text>\n", kSize - 8,
      kSize / 2 + 36, 100 * projection.explained[0]);
  svg += fmt::format(
      "<text transform=\"translate({:.1f},{:.1f}) rotate(-90)\" class=\"name\" text-anchor=\"end\">{:.0f} % of the "
      "variance</text>\n",
      kSize / 2 - 8, 34.0, 100 * projection.explained[1]);
  for (size_t i = 0; i < projection.points.size(); ++i) {
    const double x = kSize / 2 + factor * projection.points[i][0],
                 y = kSize / 2 + 20 - factor * projection.points[i][1];
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"#2166ac\"><title>{}: {:.4g}, {:.4g}</title></circle>\n",
        x, y, svg_escaped(labels[i]), projection.points[i][0], projection.points[i][1]);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 6, y + 4, svg_escaped(labels[i]));
  }
  return svg + "</svg>\n";
}

}  // namespace limpid
