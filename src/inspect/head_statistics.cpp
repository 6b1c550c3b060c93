#include "inspect/head_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"
#include "inference/decoder_state.h"
#include "inspect/tap_rows.h"

namespace limpid {
namespace {

constexpr std::string_view kPattern = ".pattern";

struct PatternTap {
  std::string name;
  int64_t heads = 0;
  bool self = false;
};

std::vector<PatternTap> attention_of(const std::vector<TapInfo>& taps) {
  std::vector<PatternTap> found;
  for (const TapInfo& tap : taps)
    if (tap.keys && (tap.name.ends_with(kPattern) || tap.name == "align"))
      found.push_back({tap.name, tap.heads, *tap.keys == tap.rows});
  check(!found.empty(), "[heads] this model has no attention");
  return found;
}

std::string without_pattern(const std::string& tap) {
  return tap.ends_with(kPattern) ? tap.substr(0, tap.size() - kPattern.size()) : tap;
}

}  // namespace

void HeadCounter::add(ConstMatrix pattern) {
  for (int64_t i = 0; i < pattern.rows; ++i) {
    const real* row = pattern.row(i);
    double entropy = 0, distance = 0;
    for (int64_t j = 0; j < pattern.cols; ++j) {
      const auto weight = static_cast<double>(row[j]);
      if (weight > 0) entropy -= weight * std::log2(weight);
      distance += weight * static_cast<double>(std::abs(i - j));
    }
    ++queries_;
    entropy_ += entropy;
    distance_ += distance;
    first_ += static_cast<double>(row[0]);
    if (self_ && i > 0) {
      ++later_;
      previous_ += static_cast<double>(row[i - 1]);
    }
  }
}

void HeadCounter::write(HeadStatistics& into) const {
  into.queries = queries_;
  if (queries_ == 0) return;
  into.entropy = entropy_ / queries_;
  into.first = first_ / queries_;
  if (self_) into.distance = distance_ / queries_;
  if (self_ && later_ > 0) into.previous = previous_ / later_;
}

std::vector<HeadStatistics> head_statistics(const Model& model, const std::function<std::optional<Example>()>& next) {
  return head_statistics(model, list_taps(model), next);
}

std::vector<HeadStatistics> head_statistics(const Model& model, const std::vector<TapInfo>& taps,
                                            const std::function<std::optional<Example>()>& next) {
  const std::vector<PatternTap> attention = attention_of(taps);
  std::vector<std::vector<HeadCounter>> counters;
  std::vector<std::string> names;
  for (const PatternTap& one : attention) {
    counters.emplace_back(one.heads, HeadCounter(one.self));
    names.push_back(one.name);
  }
  while (const auto example = next()) {
    const std::map<std::string, TapValues> patterns = tap_values(model, *example, names);
    for (size_t a = 0; a < attention.size(); ++a) {
      const TapValues& pattern = patterns.at(attention[a].name);
      parallel_for(std::ssize(counters[a]), [&](int64_t head) {
        counters[a][static_cast<size_t>(head)].add({pattern.row(0, head), pattern.positions, pattern.cols});
      });
    }
  }
  std::vector<HeadStatistics> result;
  for (size_t a = 0; a < attention.size(); ++a)
    for (size_t head = 0; head < counters[a].size(); ++head) {
      result.push_back({.attention = without_pattern(attention[a].name), .head = static_cast<int64_t>(head)});
      counters[a][head].write(result.back());
    }
  return result;
}

double induction_score(ConstMatrix pattern, int64_t begin, int64_t length) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = begin + length; i < std::min(begin + 2 * length, pattern.rows); ++i, ++count)
    sum += static_cast<double>(pattern(i, i - length + 1));
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

std::vector<HeadScore> induction_scores(const Model& model, const InductionOptions& options) {
  const Config& config = model.config();
  const auto before = static_cast<int64_t>(options.before.size());
  const int64_t room = (std::min<int64_t>(most_positions(config), 1 << 20) - before) / 2;
  const int64_t length = options.length > 0 ? options.length : std::min<int64_t>(25, room);
  check(length >= 2 && length <= room, "[heads] a random sequence repeated needs {} positions, the model has {}",
        2 * length + before, most_positions(config));
  const int64_t last = options.last_token >= 0 ? options.last_token : config.vocab - 1;
  std::vector<HeadScore> scores;
  FunctionProbe probe;
  for (const PatternTap& attention : attention_of(list_taps(model))) {
    if (!attention.self) continue;
    const size_t at = scores.size();
    for (int64_t head = 0; head < attention.heads; ++head) scores.push_back({without_pattern(attention.name), head});
    probe.on(attention.name, [&scores, at, heads = attention.heads, before, length, &options](const Tap& tap) {
      for (int64_t head = 0; head < heads; ++head)
        scores[at + head].score +=
            induction_score(tap.pairs(0, head), before, length) / static_cast<double>(options.sequences);
    });
  }
  for (int64_t s = 0; s < options.sequences; ++s) {
    Random random(random_key(options.seed, static_cast<uint64_t>(s), 7));
    std::vector<int32_t> half, ids = options.before;
    for (int64_t i = 0; i < length; ++i)
      half.push_back(static_cast<int32_t>(options.first_token + random.below(last - options.first_token + 1)));
    for (int twice = 0; twice < 2; ++twice) ids.insert(ids.end(), half.begin(), half.end());
    Run run({.probe = &probe});
    const Example example = example_of(config, ids, ids);
    model.forward(run, example.batch, example.choice);
  }
  return scores;
}

void add_induction(std::vector<HeadStatistics>& heads, const std::vector<HeadScore>& scores) {
  for (const HeadScore& score : scores)
    for (HeadStatistics& head : heads)
      if (head.attention == score.attention && head.head == score.head) head.induction = score.score;
}

Picture head_picture(const std::vector<HeadStatistics>& heads) {
  std::vector<std::string> rows;
  int64_t columns = 0;
  for (const HeadStatistics& head : heads) {
    if (rows.empty() || rows.back() != head.attention) rows.push_back(head.attention);
    columns = std::max(columns, head.head + 1);
  }
  Picture picture{.title = "What every head does", .per_row = 2};
  const auto add = [&](const char* title, const std::function<std::optional<double>(const HeadStatistics&)>& value) {
    Heatmap map{.title = title, .column_name = "head", .rows = rows};
    map.row_count = static_cast<int64_t>(rows.size());
    map.column_count = columns;
    map.values.assign(rows.size() * columns, std::nanf(""));
    for (const HeadStatistics& head : heads) {
      const auto row = std::find(rows.begin(), rows.end(), head.attention) - rows.begin();
      if (const auto number = value(head)) map.values[row * columns + head.head] = static_cast<float>(*number);
    }
    if (std::any_of(map.values.begin(), map.values.end(), [](float v) { return !std::isnan(v); }))
      picture.maps.push_back(std::move(map));
  };
  add("entropy, bits", [](const HeadStatistics& h) { return h.entropy; });
  add("distance, tokens", [](const HeadStatistics& h) { return h.distance; });
  add("previous token", [](const HeadStatistics& h) { return h.previous; });
  add("induction", [](const HeadStatistics& h) { return h.induction; });
  add("first token", [](const HeadStatistics& h) { return h.first; });
  return picture;
}

}  // namespace limpid
