// Attention: the fast kernel, and the same in steps that keep every number for taps.

#include "autograd/input_gradient.h"
#include "autograd/ops.h"
#include "kernels/additive_attention.h"
#include "kernels/rows.h"

namespace limpid {
namespace {

using kernels::AttentionGradients;
using kernels::AttentionJob;

ConstMatrix rows_of(const Tensor& value, const Sequences& sequences, int64_t i) {
  return value.empty() ? ConstMatrix{} : value.values().rows_from(sequences.begin(i), sequences.length(i));
}
Matrix rows_of(Matrix value, const Sequences& sequences, int64_t i) {
  return value.data ? value.rows_from(sequences.begin(i), sequences.length(i)) : Matrix{};
}

// One job per sequence. Values that a step does not need may be empty; shapes still say how many queries and keys there
// are.
std::vector<AttentionJob> make_jobs(const AttentionBatch& batch, const Tensor& q, const Tensor& k, const Tensor& v,
                                    Matrix z) {
  std::vector<AttentionJob> jobs(batch.queries.count());
  const int64_t q_cols = batch.shape.heads * batch.shape.head_size,
                kv_cols = batch.shape.kv_heads * batch.shape.head_size;
  for (int64_t i = 0; i < batch.queries.count(); ++i) {
    AttentionJob& job = jobs[i];
    job.q = q.empty() ? ConstMatrix{nullptr, batch.queries.length(i), q_cols} : rows_of(q, batch.queries, i);
    job.z = rows_of(z, batch.queries, i);
    if (!batch.bias.empty()) {
      job.bias = std::as_const(batch.bias).values();
      job.bias_zero = batch.bias_zero;
    }
    if (batch.cache) {
      const KeyValueCache::Entry& entry = (*batch.cache)[i];
      job.k = entry.keys();
      job.v = entry.values();
      if (!entry.listed().empty()) job.rows = entry.listed().data();
    } else {
      job.k = k.empty() ? ConstMatrix{nullptr, batch.keys.length(i), kv_cols} : rows_of(k, batch.keys, i);
      job.v = v.empty() ? ConstMatrix{nullptr, batch.keys.length(i), kv_cols} : rows_of(v, batch.keys, i);
    }
  }
  return jobs;
}

// The gradient of the bias, which all sequences share: each adds up its own, and these are added in their order.
class BiasTarget {
 public:
  BiasTarget(Tape& tape, const AttentionBatch& batch) : batch_(batch) {
    if (batch.bias.empty() || !batch.bias.needs_gradient()) return;
    parts_ = Tensor(tape.arena(), batch.queries.count() * batch.bias.rows(), batch.bias.cols());
    kernels::fill_zero(parts_.values());
  }
  void give_to(std::vector<AttentionGradients>& gradients) {
    for (size_t i = 0; !parts_.empty() && i < gradients.size(); ++i)
      gradients[i].dbias = parts_.values().rows_from(static_cast<int64_t>(i) * batch_.bias.rows(), batch_.bias.rows());
  }
  void add_up(Tape& tape) {
    if (parts_.empty()) return;
    const Matrix to = tape.grad_out_to_add(batch_.bias);
    for (int64_t begin = 0; begin < parts_.rows(); begin += to.rows)
      kernels::add_scaled(parts_.values().rows_from(begin, to.rows), 1, to, true);
  }

 private:
  const AttentionBatch& batch_;
  Tensor parts_;
};

std::vector<AttentionGradients> make_gradients(const AttentionBatch& batch, ConstMatrix dz, Matrix dq, Matrix dk,
                                               Matrix dv) {
  std::vector<AttentionGradients> gradients(batch.queries.count());
  for (int64_t i = 0; i < batch.queries.count(); ++i) {
    if (dz.data) gradients[i].dz = dz.rows_from(batch.queries.begin(i), batch.queries.length(i));
    gradients[i].dq = rows_of(dq, batch.queries, i);
    gradients[i].dk = rows_of(dk, batch.keys, i);
    gradients[i].dv = rows_of(dv, batch.keys, i);
  }
  return gradients;
}

// A step from pairs to pairs.
Tensor pair_step(
    Run& run, const Tensor& input, const AttentionBatch& batch,
    void (*forward)(const AttentionShape&, const std::vector<AttentionJob>&, const real*, real*),
    std::function<void(const std::vector<AttentionJob>&, const Tensor& y, const real* dy, real* dx)> backward) {
  const bool records = run.records({&input});
  Tensor y = run.make(1, input.cols(), records);
  forward(batch.shape, make_jobs(batch, {}, {}, {}, {}), input.values().data, y.values().data);
  if (records) {
    run.tape()->record([input = input.gradient_only(), y, batch, backward = std::move(backward)](Tape& tape) {
      const ConstMatrix dy = tape.grad(y);
      if (dy.rows == 0) return;
      backward(make_jobs(batch, {}, {}, {}, {}), y, dy.data, tape.grad_out_to_add(input).data);
    });
  }
  return y;
}

Tensor fast_attention(Run& run, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionBatch& batch,
                      double rate) {
  const Dropout dropout = run.dropout(rate);
  const bool records = run.records({&q, &k, &v, &batch.bias});
  Tensor z = run.make(q.rows(), q.cols(), records);
  Tensor log_sums;
  if (records) log_sums = Tensor(run.arena(), 1, batch.shape.heads * q.rows());
  const std::vector<AttentionJob> jobs = make_jobs(batch, q, k, v, z.values());
  if (batch.cache && !records && dropout.rate == 0)
    kernels::cached_attention_forward(batch.shape, jobs);
  else
    kernels::attention_forward(batch.shape, dropout, jobs, records ? log_sums.values().data : nullptr);
  if (records) {
    run.tape()->record([q, k, v, z = z.gradient_only(), log_sums, batch, dropout](Tape& tape) {
      const ConstMatrix dz = tape.grad(z);
      if (dz.rows == 0) return;
      InputGradient dq(tape, q), dk(tape, k), dv(tape, v);
      auto gradients = make_gradients(batch, dz, dq.to_add(), dk.to_add(), dv.to_add());
      BiasTarget dbias(tape, batch);
      dbias.give_to(gradients);
      kernels::attention_backward(batch.shape, dropout, make_jobs(batch, q, k, v, {}), log_sums.values().data,
                                  gradients);
      dbias.add_up(tape);
    });
  }
  return z;
}

}  // namespace

bool keeps_pairs(const Run& run) { return run.watched("scores") || run.watched("masked") || run.watched("pattern"); }

Tensor attention(Run& run, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionBatch& batch,
                 double dropout_rate) {
  if (!keeps_pairs(run)) return fast_attention(run, q, k, v, batch, dropout_rate);
  const TapLayout pairs{.rows = &batch.queries, .keys = &batch.keys, .heads = batch.shape.heads, .other_kernel = true};
  const Tensor scores = run.tap("scores", attention_scores(run, q, k, batch), pairs);
  const Tensor masked = run.tap("masked", attention_mask(run, scores, batch), pairs);
  const Tensor pattern = run.tap("pattern", attention_softmax(run, masked, batch), pairs);
  return attention_values(run, pattern, v, batch, dropout_rate);
}

Tensor attention_scores(Run& run, const Tensor& q, const Tensor& k, const AttentionBatch& batch) {
  const bool records = run.records({&q, &k, &batch.bias});
  const std::vector<AttentionJob> jobs = make_jobs(batch, q, k, {}, {});
  Tensor scores = run.make(1, kernels::pair_count(batch.shape, jobs), records);
  kernels::attention_scores_forward(batch.shape, jobs, scores.values().data);
  if (records) {
    run.tape()->record([q, k, scores, batch](Tape& tape) {
      const ConstMatrix dscores = tape.grad(scores);
      if (dscores.rows == 0) return;
      InputGradient dq(tape, q), dk(tape, k);
      auto gradients = make_gradients(batch, {}, dq.to_add(), dk.to_add(), {});
      BiasTarget dbias(tape, batch);
      dbias.give_to(gradients);
      kernels::attention_scores_backward(batch.shape, make_jobs(batch, q, k, {}, {}), scores.values().data,
                                         dscores.data, gradients);
      dbias.add_up(tape);
    });
  }
  return scores;
}

Tensor attention_mask(Run& run, const Tensor& scores, const AttentionBatch& batch) {
  return pair_step(run, scores, batch, kernels::attention_mask_forward,
                   [shape = batch.shape](const auto& jobs, const Tensor&, const real* dy, real* dx) {
                     kernels::attention_mask_backward(shape, jobs, dy, dx);
                   });
}

Tensor attention_softmax(Run& run, const Tensor& masked, const AttentionBatch& batch) {
  return pair_step(run, masked, batch, kernels::attention_softmax_forward,
                   [shape = batch.shape](const auto& jobs, const Tensor& y, const real* dy, real* dx) {
                     kernels::attention_softmax_backward(shape, jobs, y.values().data, dy, dx);
                   });
}

Tensor attention_values(Run& run, const Tensor& pattern, const Tensor& v, const AttentionBatch& batch,
                        double dropout_rate) {
  const Dropout dropout = run.dropout(dropout_rate);
  const bool records = run.records({&pattern, &v});
  Tensor z = run.make(batch.queries.tokens(), batch.shape.heads * batch.shape.head_size, records);
  kernels::attention_values_forward(batch.shape, dropout, make_jobs(batch, {}, {}, v, z.values()),
                                    pattern.values().data);
  if (records) {
    run.tape()->record([pattern, v, z = z.gradient_only(), batch, dropout](Tape& tape) {
      const ConstMatrix dz = tape.grad(z);
      if (dz.rows == 0) return;
      InputGradient dpattern(tape, pattern), dv(tape, v);
      kernels::attention_values_backward(batch.shape, dropout, make_jobs(batch, {}, {}, v, {}), pattern.values().data,
                                         dpattern.to_add().data, make_gradients(batch, dz, {}, {}, dv.to_add()));
    });
  }
  return z;
}

Tensor additive_scores(Run& run, const Tensor& query, const Tensor& key, const Weight& v, const Sequences& queries,
                       const Sequences& keys) {
  const bool records = run.records({&query, &key}, {&v});
  std::vector<kernels::AdditiveJob> jobs;
  int64_t pairs = 0;
  for (int64_t i = 0; i < queries.count(); ++i) {
    jobs.push_back({rows_of(query, queries, i), rows_of(key, keys, i)});
    pairs += queries.length(i) * keys.length(i);
  }
  Tensor scores = run.make(1, pairs, records);
  kernels::additive_scores_forward(jobs, v.numbers(), scores.values().data);
  if (records) {
    run.tape()->record([query, key, scores = scores.gradient_only(), jobs, &v, queries, keys](Tape& tape) {
      const ConstMatrix dscores = tape.grad(scores);
      if (dscores.rows == 0) return;
      InputGradient to_query(tape, query), to_key(tape, key);
      const Matrix dquery = to_query.to_add(), dkey = to_key.to_add();
      std::vector<kernels::AdditiveGradients> gradients;
      for (int64_t i = 0; i < queries.count(); ++i)
        gradients.push_back({rows_of(dquery, queries, i), rows_of(dkey, keys, i)});
      std::vector<real> unused;
      if (!tape.wants(v)) unused.resize(v.size());
      real* dv = tape.wants(v) ? tape.gradients().open_to_add(v) : unused.data();
      kernels::additive_scores_backward(jobs, v.numbers(), dscores.data, gradients, dv);
    });
  }
  return scores;
}

}  // namespace limpid
