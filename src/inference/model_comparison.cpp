#include "inference/model_comparison.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "inference/sampling.h"

namespace limpid {
namespace {

struct TokenComparison {
  double divergence = 0, loss = 0, reference_loss = 0;
  bool same = false;
};

TokenComparison compare_token(std::span<const real> p, std::span<const real> q, int32_t label) {
  const double p_sum = log_sum_of_exp(p), q_sum = log_sum_of_exp(q);
  TokenComparison result;
  for (size_t i = 0; i < p.size(); ++i) {
    const double log_p = static_cast<double>(p[i]) - p_sum, log_q = static_cast<double>(q[i]) - q_sum;
    result.divergence += std::exp(log_p) * (log_p - log_q);
  }
  result.reference_loss = p_sum - static_cast<double>(p[static_cast<size_t>(label)]);
  result.loss = q_sum - static_cast<double>(q[static_cast<size_t>(label)]);
  result.same = std::max_element(p.begin(), p.end()) - p.begin() == std::max_element(q.begin(), q.end()) - q.begin();
  return result;
}

void add_batch(const Model& reference, const Model& model, const Batch& batch, ModelComparison& total) {
  std::vector<int32_t> labels;
  for (const int32_t label : batch.labels)
    if (label >= 0) labels.push_back(label);
  const TokenChoice choice = TokenChoice::labelled(batch);
  const Arena arena;
  Run run({.arena = arena});
  const Tensor x = reference.forward(run, batch, choice), y = model.forward(run, batch, choice);
  const int64_t part = std::max<int64_t>(1, kMaxLogits / reference.config().vocab);
  for (int64_t begin = 0; begin < x.rows(); begin += part) {
    const int64_t count = std::min(part, x.rows() - begin);
    const Tensor p = reference.output().logits(run, x.slice(begin, count), Sequences({count}));
    const Tensor q = model.output().logits(run, y.slice(begin, count), Sequences({count}));
    std::vector<TokenComparison> tokens(static_cast<size_t>(count));
    const auto row = [](ConstMatrix m, int64_t i) { return std::span(m.row(i), static_cast<size_t>(m.cols)); };
    parallel_for(count, [&](int64_t i) {
      tokens[i] = compare_token(row(p.values(), i), row(q.values(), i), labels[begin + i]);
    });
    for (const TokenComparison& token : tokens) {
      total.divergence += token.divergence;
      total.loss += token.loss;
      total.reference_loss += token.reference_loss;
      total.agreement += token.same ? 1 : 0;
      ++total.tokens;
    }
  }
}

}  // namespace

double ModelComparison::perplexity() const { return std::exp(loss); }
double ModelComparison::reference_perplexity() const { return std::exp(reference_loss); }

ModelComparison compare_models(const Model& reference, const Model& model, std::span<const Batch> batches) {
  check(reference.config().vocab == model.config().vocab,
        "[compare] one model has {} tokens, the other {}: compare copies of one model", reference.config().vocab,
        model.config().vocab);
  ModelComparison total;
  for (const Batch& batch : batches) add_batch(reference, model, batch, total);
  const auto tokens = static_cast<double>(std::max<int64_t>(total.tokens, 1));
  for (double* sum : {&total.divergence, &total.loss, &total.reference_loss, &total.agreement}) *sum /= tokens;
  return total;
}

}  // namespace limpid
