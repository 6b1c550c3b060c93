#pragma once
// BLEU (Papineni et al. 2002) of a whole text as sacreBLEU computes it, to the last printed digit: 1- to 4-grams,
// counts clipped by the most any reference has, the length of the nearest reference, and where an order has no match
// its precision halved from order to order ("exp", NIST's smoothing).

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scoring/bleu_tokenizer.h"
#include "scoring/statistics.h"

namespace limpid {

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::t13a;
  bool lowercase = false;
};

struct BleuScore {
  double score = 0;                       // 0 … 100
  std::array<double, 4> precisions = {};  // of 1- to 4-grams, in per cent
  double brevity_penalty = 1;
  int64_t hypothesis_length = 0, reference_length = 0;  // in words
  std::array<int64_t, 4> matches = {}, totals = {};     // of 1- to 4-grams

  double ratio() const;  // of lengths; 0 where the reference is empty
};

// One reference for each hypothesis, or several.
BleuScore bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
               const BleuOptions& options = {});
BleuScore bleu(std::span<const std::string> hypotheses, References references, const BleuOptions& options = {});

// A sentence's counts: both lengths, matches of orders 1 … 4, totals of orders 1 … 4; and the score of their sums.
SentenceStatistics bleu_statistics(std::span<const std::string> hypotheses, References references,
                                   const BleuOptions& options);
BleuScore bleu_of_sums(std::span<const int64_t> sums);

// What sacreBLEU prints behind the score: "71.0/47.5/34.3/24.5 (BP = 0.999 ratio = 0.999 hyp_len = … ref_len = …)".
std::string details(const BleuScore& score);

}  // namespace limpid
