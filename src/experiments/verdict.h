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
  int64_t passed = 0, seeds = 0;  // seeds whose baseline learned
  double mean = 0, least = 0, most = 0;
  bool holds() const { return passed == seeds; }
};

// "0.52", over several seeds "0.52 (0.48 … 0.55)": mean, least and most.
std::string spread_text(const PartVerdict& part);

// Of one measure, as the result has it ("parts": [...], "baseline"), over the seeds whose baseline learned. A number
// that is missing or not finite fails.
PartVerdict judge_part(const Json& result, const Json& measure);
// A seed whose baseline did not learn says nothing: with a half or more of them the claim is undecided, with fewer it
// holds in part at best.
Verdict judge(const Json& result);

Words words_of(Verdict verdict);
const char* name_of(Verdict verdict);  // for machines: "holds", "holds in part", "does not hold here", "undecided"

}  // namespace limpid
