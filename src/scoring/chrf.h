#pragma once
// chrF (Popović 2015) and chrF++ (Popović 2017) of a whole text as sacreBLEU computes them: the F-score of the mean
// precision and the mean recall of character n-grams of orders 1 … 6, white space left out, and for chrF++ of word
// n-grams of orders 1 and 2 too; recall counts twice as much (beta 2). Orders that occur on one side only are left out
// of the means ("eff:yes").

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scoring/statistics.h"

namespace limpid {

inline constexpr int kChrfCharacterOrder = 6;
inline constexpr int kChrfBeta = 2;

struct ChrfOptions {
  int word_order = 0;  // 0: chrF, 2: chrF++
  bool lowercase = false;
};

// 0 … 100. One reference for each hypothesis, or several, of which the best counts sentence by sentence.
double chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
            const ChrfOptions& options = {});
double chrf(std::span<const std::string> hypotheses, References references, const ChrfOptions& options = {});

// A sentence's counts, for each order of characters and then of words: n-grams of the hypothesis, of the reference, of
// both; and the score of their sums.
SentenceStatistics chrf_statistics(std::span<const std::string> hypotheses, References references,
                                   const ChrfOptions& options);
double chrf_of_sums(std::span<const int64_t> sums);

}  // namespace limpid
