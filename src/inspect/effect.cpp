#include "inspect/effect.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "inference/sampling.h"
#include "inspect/continuations.h"

namespace limpid {
namespace {

int32_t likeliest(const real* row, int64_t count) {
  return static_cast<int32_t>(std::max_element(row, row + count) - row);
}

std::vector<int32_t> likeliest(const real* row, int64_t count, int64_t wanted) {
  std::vector<int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const auto kept = static_cast<ptrdiff_t>(std::min(wanted, count));
  std::partial_sort(order.begin(), order.begin() + kept, order.end(),
                    [&](int32_t a, int32_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
  order.resize(static_cast<size_t>(kept));
  return order;
}

// KL(p ‖ q) of two rows of logarithms.
double divergence(const std::vector<double>& p, const std::vector<double>& q) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += std::exp(p[i]) * (p[i] - q[i]);
  return std::max(sum, 0.0);  // rounding
}

}  // namespace

std::vector<double> log_probabilities(const real* logits, int64_t count) {
  const double all = log_sum_of_exp({logits, static_cast<size_t>(count)});
  std::vector<double> result(count);
  for (int64_t i = 0; i < count; ++i) result[i] = static_cast<double>(logits[i]) - all;
  return result;
}

Effect compare_logits(ConstMatrix before, ConstMatrix after, const EffectOptions& options) {
  check(before.rows == after.rows && before.cols == after.cols && before.rows > 0,
        "[look] two passes over one text are compared: {}×{} logits and {}×{}", before.rows, before.cols, after.rows,
        after.cols);
  Effect effect;
  const int64_t chosen = options.position < 0 ? options.position + before.rows : options.position;
  check(chosen >= 0 && chosen < before.rows, "[look] there is no position {}: the text has {} tokens", options.position,
        before.rows);
  for (int64_t i = 0; i < before.rows; ++i)
    effect.same_bits = effect.same_bits &&
                       std::memcmp(before.row(i), after.row(i), static_cast<size_t>(before.cols) * sizeof(real)) == 0;
  if (options.everywhere) effect.positions.resize(static_cast<size_t>(before.rows));
  parallel_for(std::ssize(effect.positions), [&](int64_t i) {
    const real *a = before.row(i), *b = after.row(i);
    effect.positions[static_cast<size_t>(i)] = {
        i, divergence(log_probabilities(a, before.cols), log_probabilities(b, before.cols)), likeliest(a, before.cols),
        likeliest(b, before.cols)};
  });
  const real *a = before.row(chosen), *b = after.row(chosen);
  const std::vector<double> p = log_probabilities(a, before.cols), q = log_probabilities(b, before.cols);
  std::vector<int32_t> tokens = options.watched;
  if (tokens.empty()) {
    tokens = likeliest(a, before.cols, options.top);
    for (int32_t token : likeliest(b, before.cols, options.top))
      if (std::find(tokens.begin(), tokens.end(), token) == tokens.end()) tokens.push_back(token);
  }
  for (int32_t token : tokens) {
    check(token >= 0 && token < before.cols, "[look] there is no token {}: the model chooses among {}", token,
          before.cols);
    effect.tokens.push_back(
        {token, static_cast<double>(a[token]), static_cast<double>(b[token]), std::exp(p[token]), std::exp(q[token])});
  }
  return effect;
}

std::vector<int32_t> write_greedily(const Model& model, const Example& example, int64_t most, int32_t end) {
  Continuations text(model, example);
  while (std::ssize(text.written(0)) < most && !text.full()) {
    const ConstMatrix scores = text.scores();
    const GenerationTask::Row next{.id = likeliest(scores.row(0), scores.cols)};
    if (next.id == end) break;
    text.go_on({&next, 1});
  }
  return text.written(0);
}

}  // namespace limpid
