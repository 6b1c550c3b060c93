#include "inference/beam_search.h"

#include <algorithm>
#include <cmath>

namespace limpid {

double BeamSearch::score(double log_probability, size_t length) const {
  return log_probability / std::pow(static_cast<double>(std::max<size_t>(1, length)), options_.length_penalty);
}

// The continuations to look at, likeliest first; of equals the one of the better hypothesis, then of the lower id.
std::vector<BeamSearch::Candidate> BeamSearch::likeliest(const TopTokens& top, int64_t first) const {
  std::vector<Candidate> all;
  for (int64_t i = 0; i < live(); ++i)
    for (const TokenScore& token : top.row(first + i))
      if (token.id >= 0)
        all.push_back(
            {static_cast<int32_t>(i), token.id, live_[i].log_probability + static_cast<double>(token.log_probability)});
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.log_probability > b.log_probability; });
  if (static_cast<int64_t>(all.size()) > candidates(options_.beam)) all.resize(candidates(options_.beam));
  return all;
}

void BeamSearch::keep_if_best(Hypothesis hypothesis) {
  const auto place = std::upper_bound(finished_.begin(), finished_.end(), hypothesis,
                                      [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  finished_.insert(place, std::move(hypothesis));
  if (static_cast<int64_t>(finished_.size()) > options_.beam) finished_.pop_back();
}

void BeamSearch::finish(int64_t parent, double log_probability) {
  const auto& ids = live_[parent].ids;
  keep_if_best({ids, log_probability, score(log_probability, ids.size() + 1)});
}

void BeamSearch::cut_off() {
  for (Hypothesis& live : live_) {
    live.score = score(live.log_probability, live.ids.size());
    keep_if_best(std::move(live));
  }
  live_.clear();
  parents_.clear();
}

bool BeamSearch::at_max_length() const { return static_cast<int64_t>(live_.front().ids.size()) >= options_.max_tokens; }

bool BeamSearch::can_improve() const {
  if (static_cast<int64_t>(finished_.size()) < options_.beam) return true;
  if (options_.beam == 1) return false;
  return std::any_of(live_.begin(), live_.end(), [&](const Hypothesis& live) {
    return score(live.log_probability, live.ids.size() + 1) > finished_.back().score;
  });
}

void BeamSearch::advance(const TopTokens& top, int64_t first) {
  looked_at_ = likeliest(top, first);
  if (looked_at_.empty() || at_max_length()) return cut_off();  // rules may allow no token at all
  std::vector<Hypothesis> next;
  std::vector<int32_t> parents;
  int64_t rank = 0;
  for (Candidate& candidate : looked_at_) {
    const bool among_first = rank++ < options_.beam;
    if (std::find(options_.ends.begin(), options_.ends.end(), candidate.id) != options_.ends.end()) {
      if (!among_first) continue;
      candidate.fate = Fate::finished;
      finish(candidate.parent, candidate.log_probability);
      continue;
    }
    if (static_cast<int64_t>(next.size()) == options_.beam) continue;
    candidate.fate = Fate::kept;
    next.push_back({live_[candidate.parent].ids, candidate.log_probability});
    next.back().ids.push_back(candidate.id);
    parents.push_back(candidate.parent);
  }
  live_ = std::move(next);
  parents_ = std::move(parents);
  if (!can_improve()) {
    live_.clear();
    parents_.clear();
  } else if (!live_.empty() && at_max_length()) {
    cut_off();
  }
}

void BeamSearch::force(int32_t id, double log_probability) {
  live_.front().ids.push_back(id);
  live_.front().log_probability += log_probability;
  parents_ = {0};
  if (at_max_length()) cut_off();
}

std::vector<Hypothesis> BeamSearch::best(int64_t count) const {
  return {finished_.begin(), finished_.begin() + std::min<int64_t>(count, static_cast<int64_t>(finished_.size()))};
}

std::vector<Hypothesis> BeamSearch::so_far(int64_t count) const {
  std::vector<Hypothesis> result = finished_;
  for (Hypothesis live : live_) {
    live.score = score(live.log_probability, live.ids.size());
    result.push_back(std::move(live));
  }
  if (static_cast<int64_t>(result.size()) > count) result.resize(count);
  return result;
}

}  // namespace limpid
