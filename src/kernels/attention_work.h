#pragma once
// How attention is cut into pieces for the threads, and the memory a thread works in.

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/attention.h"

namespace limpid::kernels {

// A job or its gradients, seen by one head: q, z, dz, dq (N, D); k, v, dk, dv (M, D).
AttentionJob head_of(const AttentionShape& shape, const AttentionJob& job, int64_t head);
AttentionGradients head_of(const AttentionShape& shape, const AttentionGradients& gradients, int64_t head);

// Query i of n sees the keys [begin, end) of m.
struct SeenKeys {
  int64_t begin, end;
};
inline SeenKeys keys_seen(const AttentionShape& shape, int64_t n, int64_t m, int64_t i) {
  const int64_t place = i + m - n, reach = shape.window > 0 ? shape.window : m + n;
  const int64_t end = std::clamp<int64_t>(shape.causal ? place + 1 : place + reach, 0, m);
  return {std::clamp<int64_t>(place - reach + 1, 0, end), end};
}

// Queries [begin, end) of one job under some heads: all that share a head of keys, of one such head or of several.
struct AttentionPiece {
  int64_t job = 0;
  int64_t head_begin = 0, head_end = 0;
  int64_t begin = 0, end = 0;
  int64_t row_start = 0;   // H·N of the jobs before it, summed: where its log_sums begin
  int64_t pair_start = 0;  // H·N·M of the jobs before it, summed: where its pairs begin
};

// Calls body for pieces of at most max_queries queries that cover all jobs. Small pieces go to a thread many at a time,
// the heads of a short job as one piece; neither pieces nor their order within a thread depends on the number of
// threads.
inline constexpr int64_t kAllQueries = int64_t{1} << 40;  // as max_queries: a sequence is never cut
void for_each_piece(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, int64_t max_queries,
                    const std::function<void(const AttentionPiece&)>& body);

// A piece of attention_forward query by query: the bits of a query depend on itself and on the keys that it sees alone.
// The job has keys. log_sums may be null.
void attention_rows(const AttentionShape& shape, const Dropout& dropout, const AttentionJob& job,
                    const AttentionPiece& piece, real* log_sums);

// At least `count` numbers, aligned for any vector, of this thread alone; what they hold is lost at the next call.
real* thread_scratch(int64_t count);

// Hands out parts of thread_scratch, each aligned for any vector; `count` bounds what all parts take together.
class Scratch {
 public:
  static constexpr int64_t kAlign = 64;  // numbers

  explicit Scratch(int64_t count) : next_(thread_scratch(count)) {}
  real* take(int64_t count) {
    real* part = next_;
    next_ += aligned(count);
    return part;
  }
  static constexpr int64_t aligned(int64_t count) { return (count + kAlign - 1) / kAlign * kAlign; }

 private:
  real* next_;
};

}  // namespace limpid::kernels
