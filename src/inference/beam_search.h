#pragma once
// BeamSearch: the search for one text. It knows tokens and their probabilities, no model: whoever drives it gives it
// the likeliest next tokens of its live hypotheses and is told how they go on.
//
// The rule, as in fairseq: of all continuations of the live hypotheses the 2·beam likeliest are looked at. One of the
// first `beam` among them that is the end token finishes its hypothesis; the first `beam` that are not stay alive. A
// finished hypothesis scores log-probability / length^penalty, its length counted with the end token; the best `beam`
// are kept. The search ends when `beam` are finished and no live one, if it ended now at no cost, would score better
// than the worst kept. With a beam of 1 it ends at the first end token: that is greedy search. At the longest length
// allowed it is cut off: live hypotheses count as they stand, without an end, as in Hugging Face's search.

#include <cstdint>
#include <span>
#include <vector>

#include "inference/generate.h"
#include "inference/top_tokens.h"

namespace limpid {

struct BeamOptions {
  int64_t beam = 4;
  double length_penalty = 1;
  int64_t max_tokens = 0;           // without the end token
  std::vector<int32_t> ends = {0};  // tokens that end a text
};

class BeamSearch {
 public:
  explicit BeamSearch(const BeamOptions& options) : options_(options), live_(1), parents_(1) {}

  // How many likeliest tokens of each live hypothesis advance() must be given so that none is missed.
  static int64_t candidates(int64_t beam) { return beam == 1 ? 1 : 2 * beam; }

  int64_t live() const { return static_cast<int64_t>(live_.size()); }  // hypotheses to go on with; 0: done
  // Goes on by one token. Rows of `top` from `first` on belong to the live hypotheses.
  void advance(const TopTokens& top, int64_t first);
  // Goes on with a token that the text must have: only while there is one live hypothesis.
  void force(int32_t id, double log_probability);
  // Of each live hypothesis: its last token, and which of those before the last advance() it continues.
  int32_t last(int64_t i) const { return live_[i].ids.back(); }
  int32_t parent(int64_t i) const { return parents_[i]; }
  const std::vector<int32_t>& ids(int64_t i) const { return live_[i].ids; }

  // The continuations that the last advance() looked at, likeliest first, and what became of each.
  enum class Fate { kept, dropped, finished };
  struct Candidate {
    int32_t parent;  // which live hypothesis it continues
    int32_t id;
    double log_probability;  // of the whole
    Fate fate = Fate::dropped;
  };
  std::span<const Candidate> looked_at() const { return looked_at_; }

  // The best hypotheses that are finished or cut off, best first.
  std::vector<Hypothesis> best(int64_t count) const;
  // The same where the search is broken off: behind them the live ones as they stand, without an end.
  std::vector<Hypothesis> so_far(int64_t count) const;

 private:
  std::vector<Candidate> likeliest(const TopTokens& top, int64_t first) const;
  double score(double log_probability, size_t length) const;  // the end counts for the length
  void finish(int64_t parent, double log_probability);
  void keep_if_best(Hypothesis hypothesis);
  void cut_off();
  bool at_max_length() const;
  bool can_improve() const;

  BeamOptions options_;
  std::vector<Hypothesis> live_;
  std::vector<int32_t> parents_;
  std::vector<Candidate> looked_at_;
  std::vector<Hypothesis> finished_;  // best first, at most `beam`
};

}  // namespace limpid
