#include "kernels/routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace limpid::kernels {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kExperts = 5, kChosen = 2;
// Sums of five terms of size one.
constexpr double kTolerance = 16 * std::numeric_limits<real>::epsilon();

struct Routing {
  std::vector<real> logits = {0.5, 2, -1, 2, 0, -3, 1, 0.25, 0.75, -0.5};  // two tokens; the first has equals
  std::vector<real> p = std::vector<real>(10), shares = std::vector<real>(4);
  std::vector<int32_t> experts = std::vector<int32_t>(4);

  explicit Routing(bool normalize) {
    route_forward({logits.data(), 2, kExperts}, kChosen, normalize, {p.data(), 2, kExperts}, experts.data(),
                  {shares.data(), 2, kChosen});
  }
};

double softmax(const std::vector<real>& x, int64_t token, int64_t expert) {
  double sum = 0;
  for (int64_t e = 0; e < kExperts; ++e) sum += std::exp(static_cast<double>(x[token * kExperts + e]));
  return std::exp(static_cast<double>(x[token * kExperts + expert])) / sum;
}

TEST(Routing, TakesTheLikeliestWithTheirShares) {
  for (const bool normalize : {false, true}) {
    const Routing routing(normalize);
    EXPECT_THAT(routing.experts, ElementsAre(1, 3, 1, 3));  // of equals the lower one first
    for (int64_t t = 0; t < 2; ++t) {
      double sum = 0;
      for (int64_t i = 0; i < kChosen; ++i) sum += softmax(routing.logits, t, routing.experts[t * kChosen + i]);
      for (int64_t i = 0; i < kChosen; ++i) {
        const double p = softmax(routing.logits, t, routing.experts[t * kChosen + i]);
        EXPECT_NEAR(routing.shares[t * kChosen + i], normalize ? p / sum : p, kTolerance);
      }
    }
  }
}

TEST(Routing, BackwardIsTheFormulaAndAdds) {
  const std::vector<real> dshares = {1, -0.5, 0.25, 2};
  for (const bool normalize : {false, true}) {
    const Routing routing(normalize);
    std::vector<real> dlogits(10, 1);
    route_backward({routing.p.data(), 2, kExperts}, routing.experts.data(), normalize, {dshares.data(), 2, kChosen},
                   {dlogits.data(), 2, kExperts});
    for (int64_t t = 0; t < 2; ++t)
      for (int64_t e = 0; e < kExperts; ++e) {
        // d share_i/d x_e = share_i·(δ_ie - share of e among those that share_i is divided by)
        double expected = 1, among = 0;
        for (int64_t i = 0; i < kChosen; ++i) among += softmax(routing.logits, t, routing.experts[t * kChosen + i]);
        for (int64_t i = 0; i < kChosen; ++i) {
          const int64_t expert = routing.experts[t * kChosen + i];
          const bool one_of_them = routing.experts[t * kChosen] == e || routing.experts[t * kChosen + 1] == e;
          const double p = softmax(routing.logits, t, expert), pe = softmax(routing.logits, t, e);
          const double share = normalize ? p / among : p, rival = !normalize ? pe : one_of_them ? pe / among : 0;
          expected += static_cast<double>(dshares[t * kChosen + i]) * share * ((expert == e) - rival);
        }
        EXPECT_NEAR(dlogits[t * kExperts + e], expected, kTolerance) << t << " " << e;
      }
  }
}

}  // namespace
}  // namespace limpid::kernels
