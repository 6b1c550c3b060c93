#include "inspect/firing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "inspect/display_text.h"
#include "inspect/svg_text.h"

namespace limpid {

void Histogram::add(double value) {
  ++count_;
  if (value == 0 || !std::isfinite(value)) {
    zeros_ += value == 0;
    return;
  }
  if (width_ == 0) width_ = std::abs(value) / static_cast<double>(kHalf) * 1.0001;
  while (std::abs(value) >= width_ * kHalf) widen();
  const auto bin = static_cast<int64_t>(std::floor(value / width_)) + kHalf;
  ++bins_[std::clamp<int64_t>(bin, 0, 2 * kHalf - 1)];
}

void Histogram::widen() {
  std::vector<int64_t> wider(2 * kHalf);
  for (int64_t i = 0; i < 2 * kHalf; ++i) {
    const int64_t from_zero = i - kHalf;  // bin of values in [from_zero, from_zero + 1)·width
    wider[(from_zero >= 0 ? from_zero / 2 : (from_zero - 1) / 2) + kHalf] += bins_[i];
  }
  bins_ = std::move(wider);
  width_ *= 2;
}

void Firing::add(std::span<const std::string> tokens, const real* activations, int64_t stride) {
  const int64_t text = seen_++;
  if (tokens.empty()) return;
  const auto at = [&](int64_t i) { return static_cast<double>(activations[i * stride]); };
  const auto count = static_cast<int64_t>(tokens.size());
  int64_t strongest = 0;
  for (int64_t i = 0; i < count; ++i) {
    histogram_.add(at(i));
    positive_ += at(i) > 0;
    if (at(i) > at(strongest)) strongest = i;
  }
  const double value = at(strongest);
  if (value <= 0 || (static_cast<int64_t>(texts_.size()) == most_ && value <= texts_.back().activation)) return;
  FiringText kept{.text = text, .position = strongest, .activation = value};
  const int64_t begin = std::max<int64_t>(strongest - around_, 0), end = std::min(strongest + around_ + 1, count);
  for (int64_t i = begin; i < end; ++i) {
    kept.tokens.push_back(tokens[i]);
    kept.activations.push_back(at(i));
  }
  kept.marked = strongest - begin;
  const auto place = std::upper_bound(texts_.begin(), texts_.end(), value,
                                      [](double v, const FiringText& other) { return v > other.activation; });
  texts_.insert(place, std::move(kept));
  if (static_cast<int64_t>(texts_.size()) > most_) texts_.pop_back();
}

double Firing::share() const {
  return histogram_.count() == 0 ? 0 : static_cast<double>(positive_) / static_cast<double>(histogram_.count());
}

std::string firing_line(const FiringText& text, int64_t width, bool color) {
  std::vector<std::string> shown;
  for (const std::string& token : text.tokens) shown.push_back(visible(token));
  // As much on both sides as fits, the firing token always.
  auto left = static_cast<size_t>(text.marked), right = left + 1;
  int64_t used = display_width(shown[left]) + 2;
  for (bool grew = true; grew;) {
    grew = false;
    if (left > 0 && used + display_width(shown[left - 1]) < width) {
      used += display_width(shown[--left]);
      grew = true;
    }
    if (right < shown.size() && used + display_width(shown[right]) < width) {
      used += display_width(shown[right++]);
      grew = true;
    }
  }
  std::string line;
  for (size_t i = left; i < right; ++i) {
    const bool marked = static_cast<int64_t>(i) == text.marked;
    if (marked) line += color ? "\x1b[7m" : "[";
    line += shown[i];
    if (marked) line += color ? "\x1b[0m" : "]";
  }
  return line;
}

std::string histogram_line(const Histogram& histogram) {
  constexpr const char* kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (histogram.width() == 0) return "never";
  const auto bins = histogram.bins();
  const double most = std::log1p(static_cast<double>(*std::max_element(bins.begin(), bins.end())));
  size_t begin = 0, end = bins.size();
  while (begin < end && bins[begin] == 0) ++begin;
  while (end > begin && bins[end - 1] == 0) --end;
  std::string line = fmt::format("{:.3g} ", histogram.low() + static_cast<double>(begin) * histogram.width());
  for (size_t i = begin; i < end; ++i)
    line += kBars[bins[i] == 0
                      ? 0
                      : std::clamp<int64_t>(std::lround(8 * std::log1p(static_cast<double>(bins[i])) / most), 1, 8)];
  return line + fmt::format(" {:.3g}  (heights are logarithms; zero {} of {} times)",
                            histogram.low() + static_cast<double>(end) * histogram.width(), histogram.zeros(),
                            histogram.count());
}

std::string histogram_svg(const Histogram& histogram, double width, double height) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\">\n",
      width, height + 16);
  const auto bins = histogram.bins();
  const double most = std::log1p(static_cast<double>(*std::max_element(bins.begin(), bins.end())));
  size_t begin = 0, end = bins.size();
  while (begin < end && bins[begin] == 0) ++begin;
  while (end > begin && bins[end - 1] == 0) --end;
  const double bar = width / static_cast<double>(std::max<size_t>(end - begin, 1));
  for (size_t i = begin; i < end; ++i) {
    const double from = histogram.low() + static_cast<double>(i) * histogram.width();
    const double tall = most > 0 ? height * std::log1p(static_cast<double>(bins[i])) / most : 0;
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#2166ac\"><title>{:.3g} to {:.3g}: "
        "{}</title></rect>\n",
        static_cast<double>(i - begin) * bar, height - tall, std::max(bar - 1, 0.5), tall, from,
        from + histogram.width(), bins[i]);
  }
  const auto label = [&](double x, const char* anchor, double value) {
    svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"10\" text-anchor=\"{}\">{:.3g}</text>\n", x,
                       height + 12, anchor, value);
  };
  label(0, "start", histogram.low() + static_cast<double>(begin) * histogram.width());
  label(width, "end", histogram.low() + static_cast<double>(end) * histogram.width());
  return svg + "</svg>\n";
}

}  // namespace limpid
