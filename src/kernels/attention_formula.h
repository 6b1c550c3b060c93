#pragma once
// For tests: attention written down as its formula, in numbers wider than the kernels', and cases to compare on.

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/attention.h"
#include "kernels/test_support.h"

namespace limpid {

using Wide = std::conditional_t<sizeof(real) == 4, double, long double>;

// A ragged batch: the sequences' rows lie one after another, with a gap after each row.
struct AttentionCase {
  AttentionShape shape;
  Dropout dropout;
  std::vector<std::pair<int64_t, int64_t>> lengths;  // queries and keys of each sequence
  TestMatrix q, k, v, dz;
  TestMatrix z, dq, dk, dv;  // written; the gradients begin at kBefore
  TestMatrix bias, dbias;    // by distance, from `farthest` before to `farthest` behind; dbias one for each sequence
  int64_t farthest = 0;      // 0: no bias
  std::vector<real> log_sums;

  static constexpr real kBefore = real(0.25);

  AttentionCase(const AttentionShape& shape_, float rate, std::vector<std::pair<int64_t, int64_t>> lengths_,
                int64_t gap = 3, uint64_t seed = 1)
      : shape(shape_),
        dropout{rate, 77},
        lengths(std::move(lengths_)),
        q(TestMatrix::normal(queries(), shape.heads * shape.head_size, gap, seed)),
        k(TestMatrix::normal(keys(), shape.kv_heads * shape.head_size, gap, seed + 1)),
        v(TestMatrix::normal(keys(), shape.kv_heads * shape.head_size, gap, seed + 2)),
        dz(TestMatrix::normal(queries(), shape.heads * shape.head_size, gap, seed + 3)),
        z(queries(), q.cols(), gap, kBefore),
        dq(queries(), q.cols(), gap, kBefore),
        dk(keys(), k.cols(), gap, kBefore),
        dv(keys(), k.cols(), gap, kBefore),
        bias(0, 0),
        dbias(0, 0),
        log_sums(shape.heads * queries()) {}

  AttentionCase with_bias() const {
    AttentionCase c = *this;
    for (const auto& [n, m] : lengths) c.farthest = std::max({c.farthest, n, m});
    const int64_t columns = 2 * (c.farthest + kernels::kBiasMargin);
    c.bias = TestMatrix::normal(shape.heads, columns, 0, 9);
    c.dbias = TestMatrix(shape.heads * static_cast<int64_t>(lengths.size()), columns, 0, kBefore);
    return c;
  }
  int64_t bias_zero() const { return farthest + kernels::kBiasMargin; }

  int64_t queries() const {
    int64_t sum = 0;
    for (const auto& [n, m] : lengths) sum += n;
    return sum;
  }
  int64_t keys() const {
    int64_t sum = 0;
    for (const auto& [n, m] : lengths) sum += m;
    return sum;
  }

  std::vector<kernels::AttentionJob> jobs() {
    std::vector<kernels::AttentionJob> all;
    int64_t i = 0, j = 0;
    for (const auto& [n, m] : lengths) {
      all.push_back(
          {q.view().rows_from(i, n), k.view().rows_from(j, m), v.view().rows_from(j, m), z.view().rows_from(i, n)});
      if (farthest > 0) {
        all.back().bias = std::as_const(bias).view();
        all.back().bias_zero = bias_zero();
      }
      i += n, j += m;
    }
    return all;
  }
  std::vector<kernels::AttentionGradients> gradients() {
    std::vector<kernels::AttentionGradients> all;
    int64_t i = 0, j = 0;
    for (const auto& [n, m] : lengths) {
      all.push_back(
          {dz.view().rows_from(i, n), dq.view().rows_from(i, n), dk.view().rows_from(j, m), dv.view().rows_from(j, m)});
      if (farthest > 0) all.back().dbias = dbias.view().rows_from((std::ssize(all) - 1) * shape.heads, shape.heads);
      i += n, j += m;
    }
    return all;
  }

  void run_fast() {
    kernels::attention_forward(shape, dropout, jobs(), log_sums.data());
    kernels::attention_backward(shape, dropout, jobs(), log_sums.data(), gradients());
  }

  // Scores of a few units and sums of terms that themselves add up to 1 are known to some units of the last place of 1,
  // a dot product of D normal numbers to some D.
  double tolerance() const {
    return static_cast<double>(16 + shape.head_size) * double(std::numeric_limits<real>::epsilon());
  }

  std::string name() const {
    std::string text = fmt::format("{}/{} heads of {}{}{}, queries×keys", shape.heads, shape.kv_heads, shape.head_size,
                                   shape.causal ? ", causal" : "", dropout.rate > 0 ? ", dropout" : "");
    if (shape.window > 0) text += fmt::format(", window {}", shape.window);
    if (shape.softcap > 0) text += fmt::format(", cap {}", shape.softcap);
    if (farthest > 0) text += ", bias";
    for (const auto& [n, m] : lengths) text += fmt::format(" {}×{}", n, m);
    return text;
  }
};

// Every number of the formula and of its derivative. Pairs (H, N, M) job after job; matrices rows × columns.
struct AttentionFormula {
  std::vector<Wide> scores, masked, pattern, dpattern, dmasked, dscores;
  std::vector<Wide> z, log_sums, dq, dk, dv, dbias;

  explicit AttentionFormula(const AttentionCase& c)
      : z(c.q.rows() * c.q.cols()),
        dq(z.size()),
        dk(c.k.rows() * c.k.cols()),
        dv(dk.size()),
        dbias(c.dbias.rows() * c.dbias.cols()) {
    int64_t i = 0, j = 0;
    for (const auto& [n, m] : c.lengths) {
      for (int64_t h = 0; h < c.shape.heads; ++h)
        for (int64_t r = 0; r < n; ++r) add_query(c, h, i, r, n, j, m);
      i += n, j += m, ++sequence_;
    }
  }

 private:
  // Query r of n of a sequence whose queries begin at row `first` and whose m keys begin at row `first_key`.
  void add_query(const AttentionCase& c, int64_t h, int64_t first, int64_t r, int64_t n, int64_t first_key, int64_t m) {
    const int64_t size = c.shape.head_size, i = first + r, q_cols = c.q.cols(), k_cols = c.k.cols();
    const int64_t column = h * size, k_column = h * c.shape.kv_heads / c.shape.heads * size;
    const int64_t place = r + m - n;
    const auto seen = [&](int64_t j) {
      return (!c.shape.causal || j <= place) && (c.shape.window == 0 || std::abs(place - j) < c.shape.window);
    };
    const Wide cap = c.shape.softcap;
    const uint64_t index = pattern.size();
    const Wide keep_scale = c.dropout.rate < 1 ? 1 / (1 - Wide(c.dropout.rate)) : 0;
    const auto drop = [&](int64_t j, Wide x) {
      return dropout_keeps(c.dropout, index + static_cast<uint64_t>(j)) ? x * keep_scale : 0;
    };

    std::vector<Wide> p(m), dp(m), slope(m);
    Wide max = -std::numeric_limits<Wide>::infinity(), sum = 0, delta = 0;
    for (int64_t j = 0; j < m; ++j) {
      Wide dot = 0;
      for (int64_t t = 0; t < size; ++t) dot += Wide(c.q(i, column + t)) * Wide(c.k(first_key + j, k_column + t));
      dot *= c.shape.scale;
      slope[j] = cap > 0 ? 1 - std::pow(std::tanh(dot / cap), 2) : 1;
      scores.push_back(cap > 0 ? cap * std::tanh(dot / cap) : dot);
      if (c.farthest > 0) scores.back() += c.bias(h, c.bias_zero() + place - j);
      masked.push_back(seen(j) ? scores.back() : -std::numeric_limits<Wide>::infinity());
      max = std::max(max, masked.back());
    }
    for (int64_t j = 0; j < m; ++j) sum += p[j] = std::exp(masked[index + j] - max);
    log_sums.push_back(m > 0 ? max + std::log(sum) : max);
    for (int64_t j = 0; j < m; ++j) {
      p[j] /= sum;
      const Wide dropped = drop(j, p[j]);
      Wide dot = 0;
      for (int64_t t = 0; t < size; ++t) {
        z[i * q_cols + column + t] += dropped * Wide(c.v(first_key + j, k_column + t));
        dv[(first_key + j) * k_cols + k_column + t] += dropped * Wide(c.dz(i, column + t));
        dot += Wide(c.dz(i, column + t)) * Wide(c.v(first_key + j, k_column + t));
      }
      dp[j] = drop(j, dot);
      delta += p[j] * dp[j];
    }
    for (int64_t j = 0; j < m; ++j) {
      pattern.push_back(p[j]);
      dpattern.push_back(dp[j]);
      dmasked.push_back(p[j] * (dp[j] - delta));
      dscores.push_back(seen(j) ? dmasked.back() : 0);
      if (c.farthest > 0)
        dbias[(sequence_ * c.shape.heads + h) * c.dbias.cols() + c.bias_zero() + place - j] += dscores.back();
      const Wide draw = dscores.back() * slope[j];
      for (int64_t t = 0; t < size; ++t) {
        dq[i * q_cols + column + t] += c.shape.scale * draw * Wide(c.k(first_key + j, k_column + t));
        dk[(first_key + j) * k_cols + k_column + t] += c.shape.scale * draw * Wide(c.q(i, column + t));
      }
    }
  }

  int64_t sequence_ = 0;
};

// Cases with every kind of edge: tails in all three sizes, grouped keys, one query, more queries than a block or a
// piece, more keys than queries and fewer, nothing.
inline std::vector<AttentionCase> attention_cases() {
  std::vector<AttentionCase> cases;
  const auto add = [&](int64_t heads, int64_t kv_heads, int64_t size, bool causal,
                       std::vector<std::pair<int64_t, int64_t>> lengths) {
    const AttentionShape shape{heads, kv_heads, size, static_cast<real>(1 / std::sqrt(double(size))), causal};
    cases.emplace_back(shape, 0.f, lengths, 0);  // nothing after the last number: a sanitizer sees who reads there
    cases.emplace_back(shape, 0.3f, lengths, 3);
  };
  add(1, 1, 1, false, {{1, 1}});
  add(2, 1, 5, true, {{0, 3}, {3, 3}, {1, 9}});
  add(4, 2, 12, true, {{16, 16}, {17, 17}, {33, 33}, {5, 40}, {9, 14}});
  add(3, 3, 20, false, {{16, 16}, {20, 3}, {7, 0}, {1, 30}, {4, 9}});
  add(6, 2, 17, true, {{1, 70}, {2, 70}, {4, 9}, {21, 21}});
  add(2, 2, 32, false, {{16, 16}, {16, 16}, {31, 33}});
  add(2, 1, 64, true, {{130, 130}, {65, 100}});
  add(1, 1, 72, false, {{19, 30}, {3, 5}});
  add(1, 1, 128, true, {{40, 41}});
  add(1, 1, 4, true, {{300, 300}, {40, 1100}});
  add(1, 1, 2, true, {{20, 4200}});
  const auto add_rules = [&](AttentionShape shape, std::vector<std::pair<int64_t, int64_t>> lengths) {
    for (const float rate : {0.f, 0.3f}) {
      const AttentionCase c(shape, rate, lengths, 3);
      cases.push_back(c);
      cases.push_back(c.with_bias());
    }
  };
  const std::vector<std::pair<int64_t, int64_t>> lengths{{1, 1}, {3, 3}, {40, 40}, {70, 70}, {1, 33}, {4, 50}, {9, 80}};
  for (const bool causal : {false, true})
    for (const int64_t window : {0, 1, 3, 20, 1000})
      add_rules({4, 2, 12, real(0.3), causal, window, window == 3 ? real(2) : real(0)}, lengths);
  add_rules({2, 2, 20, real(0.3), true, 0, real(1.5)}, lengths);
  return cases;
}

// Largest |numbers[i] - base - exact[i]| relative to 1 + |exact[i]|.
template <class Values>
double largest_error(const Values& numbers, const std::vector<Wide>& exact, Wide base = 0) {
  Wide worst = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const Wide x = numbers(i), y = exact[i] + base;
    if (std::isinf(y) && x == y) continue;
    const Wide error = std::abs(x - y) / (1 + std::abs(y));
    if (!(error <= worst)) worst = error;  // a NaN stays
  }
  return static_cast<double>(worst);
}
inline double largest_error(const TestMatrix& x, const std::vector<Wide>& exact, Wide base = 0) {
  return largest_error([&](size_t i) { return x(int64_t(i) / x.cols(), int64_t(i) % x.cols()); }, exact, base);
}
inline double largest_error(const std::vector<real>& x, const std::vector<Wide>& exact, Wide base = 0) {
  return largest_error([&](size_t i) { return x[i]; }, exact, base);
}

}  // namespace limpid
