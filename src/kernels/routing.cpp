#include "kernels/routing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace limpid::kernels {
namespace {

void softmax_row(const real* x, int64_t count, real* y) {
  const real most = *std::max_element(x, x + count);
  real sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += y[i] = std::exp(x[i] - most);
  for (int64_t i = 0; i < count; ++i) y[i] /= sum;
}

// share = p/Σ of the chosen where they are normalised, else p.
void backward_row(const real* p, const int32_t* experts, int64_t chosen, bool normalize, const real* dshares,
                  int64_t count, real* dx) {
  real total = 0, weighted = 0;
  for (int64_t i = 0; i < chosen; ++i) total += p[experts[i]];
  for (int64_t i = 0; i < chosen; ++i) weighted += dshares[i] * p[experts[i]];
  std::vector<real> dp(count);
  for (int64_t i = 0; i < chosen; ++i)
    dp[experts[i]] = normalize ? dshares[i] / total - weighted / (total * total) : dshares[i];
  real delta = 0;
  for (int64_t e = 0; e < count; ++e) delta += p[e] * dp[e];
  for (int64_t e = 0; e < count; ++e) dx[e] += p[e] * (dp[e] - delta);
}

}  // namespace

void route_forward(ConstMatrix logits, int64_t chosen, bool normalize, Matrix p, int32_t* experts, Matrix shares) {
  std::vector<int32_t> order(logits.cols);
  for (int64_t t = 0; t < logits.rows; ++t) {
    real* const row = p.row(t);
    softmax_row(logits.row(t), logits.cols, row);
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + chosen, order.end(),
                      [&](int32_t a, int32_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
    real sum = 0;
    for (int64_t i = 0; i < chosen; ++i) sum += row[order[i]];
    for (int64_t i = 0; i < chosen; ++i) {
      experts[t * chosen + i] = order[i];
      shares(t, i) = normalize ? row[order[i]] / sum : row[order[i]];
    }
  }
}

void route_backward(ConstMatrix p, const int32_t* experts, bool normalize, ConstMatrix dshares, Matrix dlogits) {
  for (int64_t t = 0; t < dshares.rows; ++t)
    backward_row(p.row(t), experts + t * dshares.cols, dshares.cols, normalize, dshares.row(t), p.cols, dlogits.row(t));
}

}  // namespace limpid::kernels
