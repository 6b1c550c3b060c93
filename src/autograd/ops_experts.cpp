// Which experts a token takes, and by what shares. Letters: T tokens, E experts, k chosen.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "autograd/ops.h"

namespace limpid {
namespace {

void softmax_row(const real* x, int64_t count, real* y) {
  const real most = *std::max_element(x, x + count);
  real sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += y[i] = std::exp(x[i] - most);
  for (int64_t i = 0; i < count; ++i) y[i] /= sum;
}

// dx += P∘(dP - Σ P∘dP), where dP is zero but for the chosen ones, whose gradient comes from their shares:
// share = p/Σ of the chosen where they are normalised, else p.
void route_backward(const real* p, const int32_t* experts, int64_t chosen, bool normalize, const real* dshares,
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

Routes route(Run& run, const Tensor& logits, int64_t chosen, bool normalize) {
  const int64_t rows = logits.rows(), count = logits.cols();
  check(chosen >= 1 && chosen <= count, "[experts] {} of {} experts", chosen, count);
  const bool records = run.records({&logits});
  Tensor shares = run.make(rows, chosen, records), all(run.arena(), rows, count);
  std::vector<int32_t> experts(rows * chosen), order(count);
  for (int64_t t = 0; t < rows; ++t) {
    real* const p = all.values().row(t);
    softmax_row(logits.values().row(t), count, p);
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + chosen, order.end(),
                      [&](int32_t a, int32_t b) { return p[a] != p[b] ? p[a] > p[b] : a < b; });
    real sum = 0;
    for (int64_t i = 0; i < chosen; ++i) sum += p[order[i]];
    for (int64_t i = 0; i < chosen; ++i) {
      experts[t * chosen + i] = order[i];
      shares.values()(t, i) = normalize ? p[order[i]] / sum : p[order[i]];
    }
  }
  if (records) {
    run.tape()->record([logits = logits.gradient_only(), shares = shares.gradient_only(), all, experts, chosen,
                        normalize](Tape& tape) {
      const ConstMatrix dshares = tape.grad(shares);
      if (dshares.rows == 0) return;
      const Matrix dx = tape.grad_out_to_add(logits);
      for (int64_t t = 0; t < dshares.rows; ++t)
        route_backward(all.values().row(t), experts.data() + t * chosen, chosen, normalize, dshares.row(t), all.cols(),
                       dx.row(t));
    });
  }
  return {std::move(experts), std::move(shares)};
}

}  // namespace limpid
