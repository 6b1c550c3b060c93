#include "kernels/attention_formula.h"

namespace limpid {
namespace {

// The four steps and their backward, with every number in between. Gradients of pairs begin at kBefore: what a step
// adds is then passed on without it.
struct Steps {
  std::vector<real> scores, masked, pattern, dpattern, dmasked, dscores;

  explicit Steps(AttentionCase& c) {
    const auto jobs = c.jobs();
    const size_t pairs = static_cast<size_t>(kernels::pair_count(c.shape, jobs));
    for (auto* x : {&scores, &masked, &pattern}) x->resize(pairs);
    for (auto* x : {&dpattern, &dmasked, &dscores}) x->assign(pairs, c.kBefore);
    kernels::attention_scores_forward(c.shape, jobs, scores.data());
    kernels::attention_mask_forward(c.shape, jobs, scores.data(), masked.data());
    kernels::attention_softmax_forward(c.shape, jobs, masked.data(), pattern.data());
    kernels::attention_values_forward(c.shape, c.dropout, jobs, pattern.data());

    kernels::attention_values_backward(c.shape, c.dropout, jobs, pattern.data(), dpattern.data(), c.gradients());
    kernels::attention_softmax_backward(c.shape, jobs, pattern.data(), without(dpattern, c.kBefore).data(),
                                        dmasked.data());
    kernels::attention_mask_backward(c.shape, jobs, without(dmasked, c.kBefore).data(), dscores.data());
    kernels::attention_scores_backward(c.shape, jobs, scores.data(), without(dscores, c.kBefore).data(), c.gradients());
  }

  static std::vector<real> without(std::vector<real> x, real before) {
    for (real& number : x) number -= before;
    return x;
  }
};

TEST(AttentionSteps, AreTheFormula) {
  for (const AttentionCase& original : attention_cases()) {
    SCOPED_TRACE(original.name());
    const AttentionFormula exact(original);
    for_each_target([&] {
      AttentionCase c = original;
      const Steps steps(c);
      EXPECT_LE(largest_error(steps.scores, exact.scores), c.tolerance());
      EXPECT_LE(largest_error(steps.masked, exact.masked), c.tolerance());
      EXPECT_LE(largest_error(steps.pattern, exact.pattern), c.tolerance());
      EXPECT_LE(largest_error(c.z, exact.z), c.tolerance());
      EXPECT_LE(largest_error(steps.dpattern, exact.dpattern, c.kBefore), c.tolerance());
      EXPECT_LE(largest_error(steps.dmasked, exact.dmasked, c.kBefore), c.tolerance());
      EXPECT_LE(largest_error(steps.dscores, exact.dscores, c.kBefore), c.tolerance());
      EXPECT_LE(largest_error(c.dq, exact.dq, c.kBefore), c.tolerance());
      EXPECT_LE(largest_error(c.dk, exact.dk, c.kBefore), c.tolerance());
      EXPECT_LE(largest_error(c.dv, exact.dv, c.kBefore), c.tolerance());
      EXPECT_LE(largest_error(c.dbias, exact.dbias, c.kBefore), c.tolerance());
      EXPECT_TRUE(c.z.intact() && c.dq.intact() && c.dk.intact() && c.dv.intact());
    });
  }
}

TEST(AttentionSteps, AreTheFastKernelToRounding) {
  for (AttentionCase& slow : attention_cases()) {
    SCOPED_TRACE(slow.name());
    AttentionCase fast = slow;
    fast.run_fast();
    const Steps steps(slow);
    const auto near = [&](const TestMatrix& x, const TestMatrix& y) {
      for (int64_t i = 0; i < x.rows(); ++i)
        for (int64_t j = 0; j < x.cols(); ++j)
          ASSERT_NEAR(x(i, j), y(i, j), slow.tolerance() * (1 + std::abs(y(i, j))));
    };
    near(slow.z, fast.z), near(slow.dq, fast.dq), near(slow.dk, fast.dk), near(slow.dv, fast.dv);
  }
}

TEST(AttentionSteps, ForbiddenPairsAreExactlyZero) {
  AttentionCase c({2, 2, 5, real(0.5), true}, 0, {{19, 23}});
  const Steps steps(c);
  for (int64_t h = 0; h < 2; ++h) {
    for (int64_t i = 0; i < 19; ++i) {
      for (int64_t j = 0; j < 23; ++j) {
        const size_t pair = static_cast<size_t>((h * 19 + i) * 23 + j);
        const bool seen = j <= i + 4;
        EXPECT_EQ(steps.pattern[pair] > 0, seen);
        EXPECT_EQ(steps.masked[pair] == -std::numeric_limits<real>::infinity(), !seen);
        if (!seen) {
          EXPECT_EQ(steps.dscores[pair], c.kBefore);
        }
      }
    }
  }
}

TEST(AttentionSteps, NumberOfThreadsChangesNoBit) {
  std::vector<TestMatrix> results;
  with_threads([&] {
    AttentionCase c({4, 2, 8, real(0.4), true}, 0.1f, {{150, 150}, {90, 90}, {17, 40}});
    const Steps steps(c);
    for (const TestMatrix* x : {&c.z, &c.dq, &c.dk, &c.dv}) results.push_back(*x);
  });
  ASSERT_EQ(results.size(), 8u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i], results[i + 4]);
}

}  // namespace
}  // namespace limpid
