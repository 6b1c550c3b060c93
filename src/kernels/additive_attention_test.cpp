#include "kernels/additive_attention.h"

#include <cmath>
#include <limits>

#include "kernels/test_support.h"

namespace limpid {
namespace {

using kernels::AdditiveGradients;
using kernels::AdditiveJob;

constexpr double kEps = std::numeric_limits<real>::epsilon();
constexpr real kBefore = 0.25;  // stands in the gradients before backward adds to them

// Jobs of the given numbers of queries and keys, with all that belongs to them.
struct Batch {
  std::vector<TestMatrix> queries, keys, dqueries, dkeys;
  TestMatrix v, dv, scores, dscores;

  Batch(const std::vector<std::pair<int64_t, int64_t>>& sizes, int64_t units, int64_t gap)
      : v(TestMatrix::normal(1, units, 0, 1)),
        dv(1, units, 5, kBefore),
        scores(1, count(sizes), 3),
        dscores(TestMatrix::normal(1, count(sizes), 0, 2)) {
    uint64_t key = 10;
    for (const auto& [n, m] : sizes) {
      queries.push_back(TestMatrix::normal(n, units, gap, key++));
      keys.push_back(TestMatrix::normal(m, units, 2 * gap, key++));
      dqueries.emplace_back(n, units, 3 * gap, kBefore);
      dkeys.emplace_back(m, units, gap, kBefore);
    }
  }

  static int64_t count(const std::vector<std::pair<int64_t, int64_t>>& sizes) {
    int64_t pairs = 0;
    for (const auto& [n, m] : sizes) pairs += n * m;
    return pairs;
  }

  void run() {
    std::vector<AdditiveJob> jobs;
    std::vector<AdditiveGradients> gradients;
    for (size_t b = 0; b < queries.size(); ++b) {
      jobs.push_back({queries[b].view(), keys[b].view()});
      gradients.push_back({dqueries[b].view(), dkeys[b].view()});
    }
    kernels::additive_scores_forward(jobs, v.data(), scores.data());
    kernels::additive_scores_backward(jobs, v.data(), dscores.data(), gradients, dv.data());
  }
};

// The specification: for each pair t = tanh(q + k) gives the score Σ v·t, and by the chain rule with dt/d(q + k) = 1 -
// t² the gradients.
void expect_specification(const Batch& batch) {
  const int64_t units = batch.v.cols();
  std::vector<double> dv(units, kBefore), dv_size(units, 1);
  int64_t pair = 0;
  for (size_t b = 0; b < batch.queries.size(); ++b) {
    const TestMatrix &query = batch.queries[b], &key = batch.keys[b];
    std::vector<double> dquery(query.rows() * units, kBefore), dkey(key.rows() * units, kBefore);
    for (int64_t i = 0; i < query.rows(); ++i) {
      for (int64_t j = 0; j < key.rows(); ++j, ++pair) {
        double score = 0;
        for (int64_t h = 0; h < units; ++h) {
          const double t = std::tanh(double{query(i, h)} + key(j, h)), ds = batch.dscores(0, pair);
          score += batch.v(0, h) * t;
          dv[h] += ds * t;
          dv_size[h] += std::abs(ds * t);
          dquery[i * units + h] += ds * batch.v(0, h) * (1 - t * t);
          dkey[j * units + h] += ds * batch.v(0, h) * (1 - t * t);
        }
        ASSERT_NEAR(batch.scores(0, pair), score, 2 * kEps * std::sqrt(units + 1) * 4) << "job " << b;
      }
    }
    for (int64_t h = 0; h < units; ++h) {
      for (int64_t i = 0; i < query.rows(); ++i) {
        ASSERT_NEAR(batch.dqueries[b](i, h), dquery[i * units + h], 40 * kEps) << "job " << b << ": " << i << ", " << h;
      }
      for (int64_t j = 0; j < key.rows(); ++j) {
        ASSERT_NEAR(batch.dkeys[b](j, h), dkey[j * units + h], 40 * kEps) << "job " << b << ": " << j << ", " << h;
      }
    }
    EXPECT_TRUE(batch.dqueries[b].intact() && batch.dkeys[b].intact());
  }
  for (int64_t h = 0; h < units; ++h) ASSERT_NEAR(batch.dv(0, h), dv[h], 2 * kEps * dv_size[h]) << h;
  EXPECT_TRUE(batch.scores.intact() && batch.dv.intact());
}

const std::vector<std::pair<int64_t, int64_t>> kSizes = {{1, 1}, {1, 5}, {3, 4}, {0, 3}, {2, 0}, {2, 7}, {1, 30}};

TEST(AdditiveAttention, IsTheSpecification) {
  for_each_target([] {
    for (int64_t units : {1, 3, 16, 17, 40, 256}) {
      for (int64_t gap : {0, 3}) {
        Batch batch(kSizes, units, gap);
        batch.run();
        expect_specification(batch);
      }
    }
    Batch nothing({}, 8, 0);
    nothing.run();
    expect_specification(nothing);
  });
}

// The sums over pairs: dq of differences of the scores themselves, so that the formula above is not its own witness.
TEST(AdditiveAttention, GradientsAreSlopesOfTheScores) {
  const auto objective = [](Batch batch) {
    batch.run();
    double sum = 0;
    for (int64_t p = 0; p < batch.scores.cols(); ++p) sum += double{batch.scores(0, p)} * batch.dscores(0, p);
    return sum;
  };
  Batch batch({{2, 3}}, 5, 0);
  const Batch before = batch;
  batch.run();
  const real step =
      sizeof(real) == 4 ? real(0x1p-7) : real(0x1p-17);  // the error is of its square, and of kEps over it
  const double tolerance = sizeof(real) == 4 ? 5e-4 : 1e-8;
  const auto expect_slope = [&](auto number, double found) {
    Batch above = before, below = before;
    number(above) += step;
    number(below) -= step;
    EXPECT_NEAR(found, kBefore + (objective(above) - objective(below)) / (2 * step), tolerance);
  };
  for (int64_t h = 0; h < 5; ++h) {
    expect_slope([h](Batch& b) -> real& { return b.v(0, h); }, batch.dv(0, h));
    for (int64_t i = 0; i < 2; ++i) {
      expect_slope([=](Batch& b) -> real& { return b.queries[0](i, h); }, batch.dqueries[0](i, h));
    }
    for (int64_t j = 0; j < 3; ++j) {
      expect_slope([=](Batch& b) -> real& { return b.keys[0](j, h); }, batch.dkeys[0](j, h));
    }
  }
}

TEST(AdditiveAttention, ThreadsDoNotChangeABit) {
  const std::vector<std::pair<int64_t, int64_t>> sizes(20, {2, 11});
  Batch first(sizes, 130, 0);
  first.run();
  expect_specification(first);
  with_threads([&] {
    Batch batch(sizes, 130, 0);
    batch.run();
    EXPECT_EQ(batch.scores, first.scores);
    EXPECT_EQ(batch.dv, first.dv);
    EXPECT_EQ(batch.dqueries, first.dqueries);
    EXPECT_EQ(batch.dkeys, first.dkeys);
  });
}

}  // namespace
}  // namespace limpid
