#include "experiments/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace limpid {
namespace {

double number_of(const Json& seed, const Json& measure) {
  const auto found = seed.at("numbers").find(measure.at("key").get<std::string>());
  const bool number = found != seed.at("numbers").end() && found->is_number();
  return number ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

bool passes(const Json& seed, const Json& measure) {
  const double number = number_of(seed, measure), threshold = measure.at("threshold");
  if (!std::isfinite(number)) return false;
  return measure.at("must") == "at least" ? number >= threshold : number <= threshold;
}

bool baseline_learned(const Json& result, const Json& seed) {
  const Json& baseline = result.at("baseline");
  return baseline.is_null() || passes(seed, baseline);
}

}  // namespace

std::string spread_text(const PartVerdict& part) {
  if (part.measured == 0) return "–";
  if (part.measured == 1) return fmt::format("{:.4g}", part.mean);
  return fmt::format("{:.4g} ({:.4g} … {:.4g})", part.mean, part.least, part.most);
}

PartVerdict judge_part(const Json& result, const Json& measure) {
  const Json& seeds = result.at("seeds");
  const bool of_baseline = measure == result.at("baseline");
  const auto counts = [&](const Json& seed) { return of_baseline || baseline_learned(result, seed); };
  const bool any = std::any_of(seeds.begin(), seeds.end(), counts);
  PartVerdict part;
  for (const Json& seed : seeds) {
    if (any && !counts(seed)) continue;
    part.seeds += any ? 1 : 0;
    part.passed += any && passes(seed, measure) ? 1 : 0;
    const double number = number_of(seed, measure);
    if (!std::isfinite(number)) continue;
    part.least = part.measured == 0 ? number : std::min(part.least, number);
    part.most = part.measured == 0 ? number : std::max(part.most, number);
    part.mean += number;
    ++part.measured;
  }
  if (part.measured > 0) part.mean /= static_cast<double>(part.measured);
  return part;
}

PartVerdict judge_main_part(Json result) {
  result["baseline"] = Json();
  for (const Json& measure : result.at("parts"))
    if (measure.at("main")) return judge_part(result, measure);
  return {};
}

Verdict judge(const Json& result) {
  const auto seeds = static_cast<int64_t>(result.at("seeds").size());
  const int64_t learned = std::count_if(result.at("seeds").begin(), result.at("seeds").end(),
                                        [&](const Json& seed) { return baseline_learned(result, seed); });
  if (2 * learned <= seeds) return Verdict::undecided;
  bool all = learned == seeds;
  for (const Json& measure : result.at("parts")) {
    const PartVerdict part = judge_part(result, measure);
    if (measure.at("main") && 2 * part.passed < part.seeds) return Verdict::fails_here;
    all = all && part.holds();
  }
  return all ? Verdict::holds : Verdict::holds_in_part;
}

bool is_provisional(const Json& result) {
  constexpr size_t kFewest = 3;  // seeds that a spread is worth being called one of
  return result.at("size") != "full" || (!result.at("counted").get<bool>() && result.at("seeds").size() < kFewest);
}

Words words_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return {"holds", "성립"};
    case Verdict::holds_in_part: return {"holds in part", "부분적으로 성립"};
    case Verdict::fails_here: return {"does not hold here", "여기서는 성립하지 않음"};
    case Verdict::undecided: break;
  }
  return {"undecided", "판정 불가"};
}

const char* name_of(Verdict verdict) { return words_of(verdict).english; }

}  // namespace limpid
