#include "kernels/attention.h"

#include "base/random_cases.h"
#include "kernels/attention_formula.h"

namespace limpid {
namespace {

void expect_formula(const AttentionCase& c, const AttentionFormula& exact) {
  EXPECT_LE(largest_error(c.z, exact.z), c.tolerance());
  EXPECT_LE(largest_error(c.log_sums, exact.log_sums), c.tolerance());
  EXPECT_LE(largest_error(c.dq, exact.dq, c.kBefore), c.tolerance());
  EXPECT_LE(largest_error(c.dk, exact.dk, c.kBefore), c.tolerance());
  EXPECT_LE(largest_error(c.dv, exact.dv, c.kBefore), c.tolerance());
  EXPECT_LE(largest_error(c.dbias, exact.dbias, c.kBefore), c.tolerance());
  EXPECT_TRUE(c.z.intact() && c.dq.intact() && c.dk.intact() && c.dv.intact());
}

TEST(Attention, IsTheFormula) {
  for (const AttentionCase& original : attention_cases()) {
    SCOPED_TRACE(original.name());
    const AttentionFormula exact(original);
    for_each_target([&] {
      AttentionCase c = original;
      c.run_fast();
      expect_formula(c, exact);
    });
  }
}

TEST(Attention, IsTheFormulaOnRandomShapes) {
  for (int64_t number = 0; number < random_cases(60); ++number) {
    Random random(static_cast<uint64_t>(number));
    const int64_t kv_heads = random_size(random, 3), size = random_size(random, 70);
    const AttentionShape shape{.heads = kv_heads * random_size(random, 3),
                               .kv_heads = kv_heads,
                               .head_size = size,
                               .scale = static_cast<real>(1 / std::sqrt(static_cast<double>(size))),
                               .causal = random.below(2) == 0,
                               .window = random.below(3) == 0 ? random_size(random, 50) : 0,
                               .softcap = random.below(4) == 0 ? real(2) : real(0)};
    std::vector<std::pair<int64_t, int64_t>> lengths;
    for (int64_t sequences = random_size(random, 5); sequences > 0; --sequences) {
      const int64_t queries = random_size(random, 90);
      // With an order or a window the queries are the last ones of the keys' own text.
      const bool same_text = shape.causal || shape.window > 0;
      lengths.emplace_back(queries, same_text ? queries + random.below(60) : random.below(90));
    }
    const float rate = random.below(2) == 0 ? 0.f : 0.3f;
    const AttentionCase plain(shape, rate, lengths, random.below(4), 5 * static_cast<uint64_t>(number) + 1);
    AttentionCase c = random.below(3) == 0 ? plain.with_bias() : plain;
    SCOPED_TRACE(testing::Message() << "case " << number << ": " << c.name());
    const AttentionFormula exact(c);
    c.run_fast();
    expect_formula(c, exact);
    if (HasFailure()) return;
  }
}

TEST(Attention, LogSumsAreOptional) {
  for (AttentionCase& c : attention_cases()) {
    kernels::attention_forward(c.shape, c.dropout, c.jobs(), c.log_sums.data());
    const TestMatrix z = c.z;
    kernels::attention_forward(c.shape, c.dropout, c.jobs(), nullptr);
    EXPECT_EQ(c.z, z) << c.name();
  }
}

TEST(Attention, StaysFiniteAndRightForLargeScores) {
  for (int64_t queries : {3, 20}) {
    for (real scale : {real(60), real(-60)}) {  // scores in the hundreds
      AttentionCase c({1, 1, 8, scale, true}, 0, {{queries, 20}});
      c.run_fast();
      // Scores of several hundred are themselves known to some units of their last place only, and exp passes that on.
      EXPECT_LE(largest_error(c.z, AttentionFormula(c).z), 2000 * std::numeric_limits<real>::epsilon());
      for (int64_t i = 0; i < queries; ++i)
        for (int64_t j = 0; j < 8; ++j) EXPECT_TRUE(std::isfinite(c.dq(i, j)));
    }
  }
}

TEST(Attention, SequenceAloneIsTheSameAsInABatch) {
  const AttentionShape shape{4, 2, 20, real(0.25), true};
  const std::vector<std::pair<int64_t, int64_t>> lengths{{70, 70}, {16, 16}, {1, 33}, {3, 40}, {9, 80}, {17, 17}};
  AttentionCase all(shape, 0, lengths);
  all.run_fast();
  int64_t i = 0, j = 0;
  for (const auto& [n, m] : lengths) {
    AttentionCase one(shape, 0, {{n, m}});
    const auto copy = [](const TestMatrix& from, int64_t first, TestMatrix& to) {
      for (int64_t r = 0; r < to.rows(); ++r)
        for (int64_t t = 0; t < to.cols(); ++t) to(r, t) = from(first + r, t);
    };
    copy(all.q, i, one.q), copy(all.dz, i, one.dz), copy(all.k, j, one.k), copy(all.v, j, one.v);
    one.run_fast();
    AttentionCase expected = one;
    copy(all.z, i, expected.z), copy(all.dq, i, expected.dq), copy(all.dk, j, expected.dk),
        copy(all.dv, j, expected.dv);
    EXPECT_TRUE(one.z == expected.z && one.dq == expected.dq && one.dk == expected.dk && one.dv == expected.dv)
        << n << "×" << m;
    EXPECT_TRUE(std::equal(one.log_sums.begin(), one.log_sums.end(), all.log_sums.begin() + i * shape.heads));
    i += n, j += m;
  }
}

// Row j of the one is row 2·(M - 1 - j) of the other, of which every second row is not looked at.
std::vector<real> spread(const TestMatrix& from) {
  std::vector<real> to(2 * from.rows() * from.cols(), std::numeric_limits<real>::quiet_NaN());
  for (int64_t j = 0; j < from.rows(); ++j)
    for (int64_t t = 0; t < from.cols(); ++t) to[2 * (from.rows() - 1 - j) * from.cols() + t] = from(j, t);
  return to;
}

TEST(Attention, KeysOfOneQueryMayLieAnywhere) {
  for (const int64_t size : {3, 8, 16, 20, 32, 64, 96, 128})
    for (const int64_t kv_heads : {7, 1}) {
      AttentionCase c({7, kv_heads, size, real(0.3), true}, 0, {{1, 33}});
      const std::vector<real> keys = spread(c.k), values = spread(c.v);
      std::vector<int32_t> rows;
      for (int32_t j = 0; j < 33; ++j) rows.push_back(2 * (32 - j));
      for_each_target([&] {
        kernels::attention_forward(c.shape, {}, c.jobs(), nullptr);
        const TestMatrix expected = c.z;
        EXPECT_LE(largest_error(c.z, AttentionFormula(c).z), c.tolerance()) << size;
        auto jobs = c.jobs();
        jobs[0].k = {keys.data(), 33, c.k.cols()};
        jobs[0].v = {values.data(), 33, c.v.cols()};
        jobs[0].rows = rows.data();
        kernels::attention_forward(c.shape, {}, jobs, nullptr);
        EXPECT_EQ(c.z, expected) << size;
      });
    }
}

TEST(Attention, NumberOfThreadsChangesNoBit) {
  std::vector<std::pair<int64_t, int64_t>> lengths{{600, 600}};
  for (int64_t i = 0; i < 60; ++i) lengths.push_back({1 + i, 2 + i});
  std::vector<AttentionCase> results;
  with_threads([&] {
    results.emplace_back(AttentionShape{4, 2, 8, real(0.4), true}, 0.1f, lengths);
    results.back().run_fast();
  });
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].z, results[1].z);
  EXPECT_EQ(results[0].log_sums, results[1].log_sums);
  EXPECT_EQ(results[0].dq, results[1].dq);
  EXPECT_EQ(results[0].dk, results[1].dk);
  EXPECT_EQ(results[0].dv, results[1].dv);
}

TEST(Attention, FutureTokensDoNotChangeThePast) {
  const AttentionShape shape{2, 1, 12, real(0.3), true};
  for_each_target([&] {
    AttentionCase whole(shape, 0, {{150, 150}});
    whole.run_fast();
    for (int64_t length : {5, 16, 64, 65, 149}) {
      AttentionCase part(shape, 0, {{length, length}});  // the same random numbers, fewer of them
      part.run_fast();
      for (int64_t i = 0; i < length; ++i)
        for (int64_t j = 0; j < part.z.cols(); ++j) ASSERT_EQ(part.z(i, j), whole.z(i, j)) << length << " at " << i;
    }
  });
}

TEST(Attention, CachedDecodingIsTheEndOfTheWholePass) {
  AttentionCase whole({4, 2, 16, real(0.25), true}, 0, {{90, 90}});
  whole.run_fast();
  const auto job = whole.jobs()[0];
  for (int64_t count : {1, 2, 4, 5, 30}) {
    TestMatrix z(count, whole.z.cols());
    kernels::attention_forward(whole.shape, {}, {{job.q.rows_from(90 - count, count), job.k, job.v, z.view()}},
                               nullptr);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < z.cols(); ++j) EXPECT_NEAR(z(i, j), whole.z(90 - count + i, j), whole.tolerance());
  }
}

// A prompt that is read into a cache in parts of any size, for every rule of scores.
TEST(CachedAttention, HasTheBitsOfAnyCut) {
  std::vector<AttentionCase> cases;
  for (const int64_t size : {3, 8, 12, 16, 32, 64, 80, 128})
    cases.emplace_back(AttentionShape{4, 2, size, real(0.2), true}, 0.f,
                       std::vector<std::pair<int64_t, int64_t>>{{90, 90}});
  for (const int64_t window : {1, 3, 20})
    cases.emplace_back(AttentionShape{4, 4, 16, real(0.2), true, window, real(2)}, 0.f,
                       std::vector<std::pair<int64_t, int64_t>>{{70, 90}});
  cases.push_back(cases[2].with_bias());
  for (AttentionCase& whole : cases) {
    SCOPED_TRACE(whole.name());
    const auto job = whole.jobs()[0];
    for_each_target([&] {
      kernels::cached_attention_forward(whole.shape, {job});
      EXPECT_LE(largest_error(whole.z, AttentionFormula(whole).z), whole.tolerance());
      for (const int64_t part : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 64}) {
        TestMatrix z(job.q.rows, whole.z.cols());
        for (int64_t begin = 0; begin < job.q.rows; begin += part) {
          const int64_t count = std::min(part, job.q.rows - begin);
          auto cut = job;
          cut.q = job.q.rows_from(begin, count);
          cut.k = job.k.rows_from(0, job.k.rows - (job.q.rows - begin - count));
          cut.v = job.v.rows_from(0, cut.k.rows);
          cut.z = z.view().rows_from(begin, count);
          kernels::cached_attention_forward(whole.shape, {cut});
        }
        for (int64_t i = 0; i < z.rows(); ++i)
          for (int64_t j = 0; j < z.cols(); ++j)
            ASSERT_EQ(z(i, j), whole.z(i, j)) << "parts of " << part << ", query " << i;
      }
    });
  }
}

#ifdef LIMPID_F64
// d(Σ z∘dz) by central differences, for every number of x.
template <class Forward>
double gradient_error(AttentionCase& c, TestMatrix& x, const TestMatrix& gradient, const Forward& forward) {
  const real step = 1e-5;
  double worst = 0;
  const auto loss = [&] {
    forward();
    double sum = 0;
    for (int64_t i = 0; i < c.z.rows(); ++i)
      for (int64_t j = 0; j < c.z.cols(); ++j) sum += c.z(i, j) * c.dz(i, j);
    return sum;
  };
  for (int64_t i = 0; i < x.rows(); ++i) {
    for (int64_t j = 0; j < x.cols(); ++j) {
      const real before = x(i, j);
      x(i, j) = before + step;
      const double above = loss();
      x(i, j) = before - step;
      const double slope = (above - loss()) / (2 * step);
      x(i, j) = before;
      worst = std::max(worst, std::abs(gradient(i, j) - c.kBefore - slope) / (1 + std::abs(slope)));
    }
  }
  return worst;
}

TEST(Attention, BackwardIsTheDerivativeOfForward) {
  for (bool causal : {false, true}) {
    for (float rate : {0.f, 0.3f}) {
      AttentionCase c({2, 1, 5, real(0.5), causal}, rate, {{7, 9}, {2, 3}});
      c.run_fast();
      const auto forward = [&] { kernels::attention_forward(c.shape, c.dropout, c.jobs(), nullptr); };
      // The differences themselves are good to step² ≈ 1e-10.
      EXPECT_LE(gradient_error(c, c.q, c.dq, forward), 1e-8);
      EXPECT_LE(gradient_error(c, c.k, c.dk, forward), 1e-8);
      EXPECT_LE(gradient_error(c, c.v, c.dv, forward), 1e-8);
    }
  }
}
#endif

}  // namespace
}  // namespace limpid
