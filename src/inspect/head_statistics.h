#pragma once
// What every attention head does over a corpus: how sharp it looks, how far back, how much at the token before, at the
// first token; and, on a random sequence repeated, how much at what followed last time (the induction score).

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "inspect/heatmap.h"
#include "inspect/session.h"
#include "inspect/tap_names.h"

namespace limpid {

struct HeadStatistics {
  std::string attention;  // "blocks.1.attn"
  int64_t head = 0;
  double queries = 0;               // rows seen
  double entropy = 0;               // bits, mean over queries
  double first = 0;                 // attention to the first key
  std::optional<double> distance;   // |query - key| in tokens, mean by weight; self-attention only, as what follows
  std::optional<double> previous;   // attention to the token before; queries but the first
  std::optional<double> induction;  // see induction_scores
};

// Sums over many patterns of one head, (queries, keys).
class HeadCounter {
 public:
  explicit HeadCounter(bool self) : self_(self) {}
  void add(ConstMatrix pattern);
  void write(HeadStatistics& into) const;

 private:
  bool self_;
  double queries_ = 0, later_ = 0;  // rows; rows that have a token before them
  double entropy_ = 0, first_ = 0, distance_ = 0, previous_ = 0;
};

// All attention of a model, whose taps are these, over the examples that `next` gives, until it gives none.
std::vector<HeadStatistics> head_statistics(const Model& model, const std::vector<TapInfo>& taps,
                                            const std::function<std::optional<Example>()>& next);
std::vector<HeadStatistics> head_statistics(const Model& model, const std::function<std::optional<Example>()>& next);

struct InductionOptions {
  int64_t sequences = 8;
  int64_t length = 0;           // of the sequence that is repeated; 0: 25, or as much as fits twice
  int64_t first_token = 0;      // random tokens are drawn from here …
  int64_t last_token = -1;      // … to here; -1: the end of the vocabulary
  std::vector<int32_t> before;  // what the model wants before a text
  uint64_t seed = 1;
};

// Elhage et al. 2021, Olsson et al. 2022: at the second occurrence of a token, the attention to the token that followed
// its first; the mean over the second half, for every head of self-attention, in the order of the model.
struct HeadScore {
  std::string attention;
  int64_t head = 0;
  double score = 0;
};
std::vector<HeadScore> induction_scores(const Model& model, const InductionOptions& options);
// The same of one pattern: the first copy begins at token `begin`, the second `length` later.
double induction_score(ConstMatrix pattern, int64_t begin, int64_t length);

void add_induction(std::vector<HeadStatistics>& heads, const std::vector<HeadScore>& scores);

// One map per statistic: layers × heads.
Picture head_picture(const std::vector<HeadStatistics>& heads);

}  // namespace limpid
