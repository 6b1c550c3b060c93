#pragma once
// The verdict on a claim: a pure function of the numbers of a result and the thresholds that stand in it.

#include <string>

#include "experiments/experiment.h"

namespace limpid {

enum class Verdict {
  holds,          // every part passes in every seed
  holds_in_part,  // neither of the others
  fails_here,     // the main part fails in most seeds
  undecided       // the baseline did not learn: the numbers mean nothing
};

struct PartVerdict {
  int64_t passed = 0, seeds = 0;         // seeds whose baseline learned
  int64_t measured = 0;                  // what the spread is over: those, or all where no baseline learned
  double mean = 0, least = 0, most = 0;  // of the finite numbers among them
  bool holds() const { return seeds > 0 && passed == seeds; }
  // ✓ or ✗; where no baseline learned, neither: –.
  const char* mark() const { return seeds == 0 ? "–" : holds() ? "✓" : "✗"; }
};

// "0.52", of several seeds "0.52 (0.48 … 0.55)": mean, least and most.
std::string spread_text(const PartVerdict& part);

// Of one measure, as the result has it ("parts": [...], "baseline"), over the seeds whose baseline learned. A number
// that is missing or not finite fails.
PartVerdict judge_part(const Json& result, const Json& measure);
// Of the main part over all seeds, whatever the baseline has learned: in a contrary run it must not hold.
PartVerdict judge_main_part(Json result);
// A seed whose baseline did not learn says nothing: with a half or more of them the claim is undecided, with fewer it
// holds in part at best.
Verdict judge(const Json& result);

// Of a small size, or of fewer than three seeds where numbers are not exact: the verdict is not the last word.
bool is_provisional(const Json& result);

Words words_of(Verdict verdict);
const char* name_of(Verdict verdict);  // in JSON: "holds", "holds in part", "does not hold here", "undecided"

}  // namespace limpid
