#pragma once
// Word alignments read off attention, scored against true ones: alignment error rate (Och and Ney 2003).

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "inference/alignment.h"
#include "inspect/word_attention.h"

namespace limpid {

using WordLinks = std::set<std::pair<int, int>>;  // (source word, target word)

// Counts over a corpus. Sure links are also possible ones.
struct AlignmentCounts {
  int64_t links = 0, sure = 0, sure_found = 0, possible_found = 0;

  void add(const WordLinks& found, const WordLinks& sure_links, const WordLinks& possible_links);
  double precision() const;   // of what was found, the possible share
  double recall() const;      // of what is sure, the share found
  double error_rate() const;  // 1 - (|A∩S| + |A∩P|)/(|A| + |S|)
};

// For every target word the source word that its tokens look at most.
WordLinks strongest_links(const WordAttention& attention);

// One way of reading the model's cross-attention: one head, a layer's mean, or the mean of all.
struct AlignmentScore {
  AlignmentOptions which;
  AlignmentCounts counts;
};

// Every head, every layer, all together; over all pairs. Recurrent models have one of each: the mean of all alone.
std::vector<AlignmentScore> score_alignments(const Model& model, const Tokenizers& tokenizers,
                                             const std::vector<AlignedPair>& pairs);

// Of scores of one kind (heads, layers) the one with the least error.
const AlignmentScore& best_of(std::span<const AlignmentScore> scores, bool heads);
std::string name_of(const AlignmentOptions& which);  // "layer 1, head 3", "layer 1", "all heads"

// Two rows of words with bands between them, as wide as the attention is strong; true links are drawn dark, others
// light, and true ones that the attention misses dashed.
std::string crossing_svg(const WordAttention& attention, const WordLinks& truth, const std::string& title);
// How often two links cross.
int64_t crossings(const WordLinks& links);

}  // namespace limpid
