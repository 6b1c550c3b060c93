#include "kernels/additive_attention.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/reduce.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/additive_attention.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::HWY_NAMESPACE {
namespace {

// scores[j] = Σ_h v[h]·tanh(query[h] + key(j, h))
void additive_scores_row(const real* query, ConstMatrix key, const real* v, real* scores) {
  const Reals d;
  for (int64_t j = 0; j < key.rows; ++j) {
    const real* k = key.row(j);
    auto sum = hn::Zero(d);
    for_each_vector(key.cols, [&](int64_t h, auto part) HWY_ATTR {
      const auto t = tanh(d, hn::Add(part.load(query + h), part.load(k + h)));
      sum = hn::MulAdd(part.load(v + h), t, sum);  // beyond the row v is zero
    });
    scores[j] = sum_lanes(d, sum);
  }
}

// One query: with t = tanh(query[h] + key(j, h)) and a = ds[j]·v[h]·(1-t²), the gradient of what goes into tanh:
// dquery[h] += a, dkey(j, h) += a, dv[h] += ds[j]·t
void additive_backward_row(const real* query, ConstMatrix key, const real* v, const real* dscores, real* dquery,
                           Matrix dkey, real* dv) {
  const Reals d;
  const auto one = hn::Set(d, real(1));
  for (int64_t j = 0; j < key.rows; ++j) {
    const real* k = key.row(j);
    real* dk = dkey.row(j);
    const auto ds = hn::Set(d, dscores[j]);
    for_each_vector(key.cols, [&](int64_t h, auto part) HWY_ATTR {
      const auto t = tanh(d, hn::Add(part.load(query + h), part.load(k + h)));
      const auto a = hn::Mul(hn::Mul(ds, part.load(v + h)), hn::NegMulAdd(t, t, one));
      part.store(hn::Add(part.load(dquery + h), a), dquery + h);
      part.store(hn::Add(part.load(dk + h), a), dk + h);
      part.store(hn::MulAdd(ds, t, part.load(dv + h)), dv + h);
    });
  }
}

}  // namespace
}  // namespace limpid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid {
HWY_EXPORT(additive_scores_row);
HWY_EXPORT(additive_backward_row);

namespace kernels {
namespace {

constexpr int64_t kRange = 8 * 1024;  // tanh's that one range computes, or one job

// Where each job's scores begin, and the end of the last.
std::vector<int64_t> score_starts(const std::vector<AdditiveJob>& jobs) {
  std::vector<int64_t> starts{0};
  for (const AdditiveJob& job : jobs) starts.push_back(starts.back() + job.query.rows * job.key.rows);
  return starts;
}

// Jobs of one range, given how many scores there are in all and the work of each.
int64_t jobs_of_range(int64_t jobs, int64_t scores, int64_t units) {
  return std::max<int64_t>(1, kRange * jobs / std::max<int64_t>(1, scores * units));
}

}  // namespace

void additive_scores_forward(const std::vector<AdditiveJob>& jobs, const real* v, real* scores) {
  if (jobs.empty()) return;
  const std::vector<int64_t> starts = score_starts(jobs);
  const int64_t count = static_cast<int64_t>(jobs.size());
  const int64_t grain = jobs_of_range(count, starts.back(), jobs[0].key.cols);
  parallel_ranges(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t job = begin; job < end; ++job) {
      const auto& [query, key] = jobs[job];
      for (int64_t i = 0; i < query.rows; ++i) {
        HWY_DYNAMIC_DISPATCH(additive_scores_row)(query.row(i), key, v, scores + starts[job] + i * key.rows);
      }
    }
  });
}

// Each range of jobs sums a dv of its own; these are then added in the order of the ranges.
void additive_scores_backward(const std::vector<AdditiveJob>& jobs, const real* v, const real* dscores,
                              const std::vector<AdditiveGradients>& gradients, real* dv) {
  if (jobs.empty()) return;
  const std::vector<int64_t> starts = score_starts(jobs);
  const int64_t count = static_cast<int64_t>(jobs.size()), units = jobs[0].key.cols;
  const int64_t grain = jobs_of_range(count, starts.back(), units);
  const int64_t ranges = (count + grain - 1) / grain;
  std::vector<real> partial(ranges * units);
  parallel_ranges(count, grain, [&](int64_t begin, int64_t end) {
    real* own_dv = partial.data() + begin / grain * units;
    for (int64_t job = begin; job < end; ++job) {
      const auto& [query, key] = jobs[job];
      const auto& [dquery, dkey] = gradients[job];
      for (int64_t i = 0; i < query.rows; ++i) {
        HWY_DYNAMIC_DISPATCH(additive_backward_row)
        (query.row(i), key, v, dscores + starts[job] + i * key.rows, dquery.row(i), dkey, own_dv);
      }
    }
  });
  column_sums({partial.data(), ranges, units}, dv, /*accumulate=*/true);
}

}  // namespace kernels
}  // namespace limpid
#endif
