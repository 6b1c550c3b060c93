#include "inspect/aer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "inspect/display_text.h"
#include "inspect/svg_text.h"

namespace limpid {
namespace {

std::vector<AlignmentOptions> ways_to_read(const Config& config) {
  std::vector<AlignmentOptions> ways;
  if (config.cross_attention())
    for (int64_t layer = 0; layer < config.decoder.layers; ++layer) {
      for (int64_t head = 0; head < config.decoder.heads; ++head) ways.push_back({.layer = layer, .head = head});
      ways.push_back({.layer = layer});
    }
  ways.push_back({});
  return ways;
}

}  // namespace

void AlignmentCounts::add(const WordLinks& found, const WordLinks& sure_links, const WordLinks& possible_links) {
  links += static_cast<int64_t>(found.size());
  sure += static_cast<int64_t>(sure_links.size());
  for (const auto& link : found) {
    sure_found += sure_links.contains(link);
    possible_found += sure_links.contains(link) || possible_links.contains(link);
  }
}

double AlignmentCounts::precision() const {
  return links == 0 ? 0 : static_cast<double>(possible_found) / static_cast<double>(links);
}

double AlignmentCounts::recall() const {
  return sure == 0 ? 0 : static_cast<double>(sure_found) / static_cast<double>(sure);
}

double AlignmentCounts::error_rate() const {
  return links + sure == 0 ? 0
                           : 1 - static_cast<double>(sure_found + possible_found) / static_cast<double>(links + sure);
}

WordLinks strongest_links(const WordAttention& attention) {
  WordLinks links;
  for (size_t word = 0; word < attention.pattern.size(); ++word) {
    const std::vector<double>& row = attention.pattern[word];
    const auto strongest = std::max_element(row.begin(), row.end());
    if (strongest != row.end() && *strongest > 0)
      links.emplace(static_cast<int>(strongest - row.begin()), static_cast<int>(word));
  }
  return links;
}

std::vector<AlignmentScore> score_alignments(const Model& model, const Tokenizers& tokenizers,
                                             const std::vector<AlignedPair>& pairs) {
  check(!pairs.empty(), "[align] no sentences to look at: give at least one pair");
  constexpr size_t kAtOnce = 64;
  std::vector<AlignmentScore> scores;
  for (const AlignmentOptions& which : ways_to_read(model.config())) scores.push_back({which, {}});
  for (size_t begin = 0; begin < pairs.size(); begin += kAtOnce) {
    const size_t end = std::min(begin + kAtOnce, pairs.size());
    std::vector<std::vector<int32_t>> sources, targets;
    for (size_t i = begin; i < end; ++i) {
      sources.push_back(ids_with_end(*tokenizers.source, pairs[i].source));
      targets.push_back(ids_with_end(*tokenizers.target, pairs[i].target));
    }
    for (AlignmentScore& score : scores) {
      const std::vector<Alignment> alignments = align(model, sources, targets, score.which);
      for (size_t i = begin; i < end; ++i) {
        const WordLinks truth(pairs[i].alignment.begin(), pairs[i].alignment.end());
        const WordLinks found =
            strongest_links(attention_of_words(tokenizers, pairs[i].source, pairs[i].target, alignments[i - begin]));
        score.counts.add(found, truth, {});
      }
    }
  }
  return scores;
}

const AlignmentScore& best_of(std::span<const AlignmentScore> scores, bool heads) {
  const AlignmentScore* best = nullptr;
  for (const AlignmentScore& score : scores) {
    const bool wanted = heads ? score.which.head.has_value() : score.which.layer && !score.which.head;
    if (wanted && (!best || score.counts.error_rate() < best->counts.error_rate())) best = &score;
  }
  return best ? *best : scores.back();
}

std::string name_of(const AlignmentOptions& which) {
  if (which.head) return fmt::format("layer {}, head {}", which.layer.value_or(0), *which.head);
  return which.layer ? fmt::format("layer {}", *which.layer) : "all heads";
}

AligningHead find_aligning_head(const Model& model, const Tokenizers& tokenizers,
                                const std::vector<AlignedPair>& pairs) {
  const std::vector<AlignmentScore> scores = score_alignments(model, tokenizers, pairs);
  const AlignmentScore& best = best_of(scores, true);
  return {{best.which.layer.value_or(0), best.which.head.value_or(0)}, best.counts.precision()};
}

int64_t crossings(const WordLinks& links) {
  int64_t count = 0;
  for (const auto& [a, b] : links)
    for (const auto& [c, d] : links) count += a < c && b > d;
  return count;
}

std::string crossing_svg(const WordAttention& attention, const WordLinks& truth, const std::string& title) {
  constexpr double kTop = 66, kBottom = 220, kLetter = 8.4, kGap = 22, kWidest = 15;
  constexpr const char *kTrue = "#0072b2", *kOther = "#d55e00", *kNeutral = "#6b7280";
  const bool known = !truth.empty();  // of a sentence of one's own nobody knows the true links
  const auto centres = [&](const std::vector<std::string>& words, double& width) {
    std::vector<double> at;
    double x = 16;
    for (const std::string& word : words) {
      const double room = kLetter * static_cast<double>(display_width(word));
      at.push_back(x + room / 2);
      x += room + kGap;
    }
    width = std::max(width, x);
    return at;
  };
  double width = 560;  // for the line below the picture
  const std::vector<double> above = centres(attention.source, width), below = centres(attention.target, width);
  std::string svg = svg_begin(width, kBottom + 58, title);
  const auto band = [&](size_t s, size_t t, const char* color, double stroke, double opacity, const char* more) {
    const double middle = (kTop + kBottom) / 2;
    svg += fmt::format(
        "<path d=\"M{:.1f} {} C{:.1f} {} {:.1f} {} {:.1f} {}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\" "
        "stroke-opacity=\"{:.2f}\"{}><title>{} → {}: {:.3f}</title></path>\n",
        above[s], kTop, above[s], middle, below[t], middle, below[t], kBottom, color, stroke, opacity, more,
        svg_escaped(attention.target[t]), svg_escaped(attention.source[s]), attention.pattern[t][s]);
  };
  for (size_t t = 0; t < attention.target.size(); ++t)
    for (size_t s = 0; s < attention.source.size(); ++s) {
      const double weight = attention.pattern[t][s];
      const bool real_link = truth.contains({static_cast<int>(s), static_cast<int>(t)});
      if (weight >= 0.05)
        band(s, t, !known ? kNeutral : real_link ? kTrue : kOther, kWidest * weight, 0.25 + 0.6 * weight, "");
      else if (real_link)
        band(s, t, kTrue, 1, 0.7, " stroke-dasharray=\"4 3\"");
    }
  const auto words = [&](const std::vector<std::string>& list, const std::vector<double>& at, double y) {
    for (size_t i = 0; i < list.size(); ++i)
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\" style=\"font-size:15px\">{}</text>\n",
                         at[i], y, svg_escaped(list[i]));
  };
  words(attention.source, above, kTop - 8);
  words(attention.target, below, kBottom + 20);
  const std::string colors =
      known ? fmt::format(
                  "; <tspan fill=\"{}\">blue</tspan>: a true link, <tspan fill=\"{}\">orange</tspan>: none, "
                  "dashed: a true one not looked at",
                  kTrue, kOther)
            : "";
  svg += fmt::format("<text x=\"16\" y=\"{}\" class=\"name\">width: attention of the lower word{}</text>\n",
                     kBottom + 46, colors);
  return svg + "</svg>\n";
}

}  // namespace limpid
