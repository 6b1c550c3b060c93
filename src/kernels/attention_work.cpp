#include "kernels/attention_work.h"

#include <hwy/aligned_allocator.h>

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"

namespace limpid::kernels {
namespace {

// Below this a piece is not worth handing to a thread alone: some microseconds. Keys and values that few queries look
// at take longer to come than to multiply.
constexpr int64_t kGroupFlops = int64_t{1} << 19, kFlopsPerNumber = 16;

// What stands before each job, and last what stands before the end.
struct JobStart {
  int64_t piece = 0;
  int64_t row = 0;
  int64_t pair = 0;
};

int64_t chunk_count(int64_t queries, int64_t max_queries) { return (queries + max_queries - 1) / max_queries; }

std::vector<JobStart> job_starts(const AttentionShape& shape, const std::vector<AttentionJob>& jobs,
                                 int64_t max_queries) {
  std::vector<JobStart> starts(jobs.size() + 1);
  for (size_t i = 0; i < jobs.size(); ++i) {
    const int64_t n = jobs[i].q.rows, m = jobs[i].k.rows;
    starts[i + 1] = {starts[i].piece + shape.kv_heads * chunk_count(n, max_queries), starts[i].row + shape.heads * n,
                     starts[i].pair + shape.heads * n * m};
  }
  return starts;
}

// The first piece of each group, and last the end. A job that is hardly worth more than a thread stays whole.
std::vector<int64_t> group_starts(const AttentionShape& shape, const std::vector<AttentionJob>& jobs,
                                  const std::vector<JobStart>& starts, int64_t max_queries) {
  std::vector<int64_t> groups{0};
  int64_t flops = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const int64_t queries = std::min(jobs[i].q.rows, max_queries) * shape.heads / shape.kv_heads;
    const int64_t numbers = 2 * jobs[i].k.rows * shape.head_size;
    const int64_t piece_flops = (2 * queries + kFlopsPerNumber) * numbers;
    const int64_t begin = starts[i].piece, end = starts[i + 1].piece;
    const bool whole = (end - begin) * piece_flops < 2 * kGroupFlops;
    for (int64_t piece = begin; piece < end; ++piece) {
      flops += piece_flops;
      if (flops < kGroupFlops || (whole && piece + 1 < end)) continue;
      groups.push_back(piece + 1);
      flops = 0;
    }
  }
  if (groups.back() < starts.back().piece) groups.push_back(starts.back().piece);
  return groups;
}

}  // namespace

AttentionJob head_of(const AttentionShape& shape, const AttentionJob& job, int64_t head) {
  const int64_t size = shape.head_size, kv_head = head * shape.kv_heads / shape.heads;
  return {job.q.cols_from(head * size, size),
          job.k.cols_from(kv_head * size, size),
          job.v.cols_from(kv_head * size, size),
          job.z.cols_from(head * size, size),
          job.rows,
          job.bias.data ? job.bias.rows_from(head, 1) : ConstMatrix{},
          job.bias_zero};
}

AttentionGradients head_of(const AttentionShape& shape, const AttentionGradients& gradients, int64_t head) {
  const int64_t size = shape.head_size, kv_head = head * shape.kv_heads / shape.heads;
  return {gradients.dz.cols_from(head * size, size), gradients.dq.cols_from(head * size, size),
          gradients.dk.cols_from(kv_head * size, size), gradients.dv.cols_from(kv_head * size, size),
          gradients.dbias.data ? gradients.dbias.rows_from(head, 1) : Matrix{}};
}

void for_each_piece(const AttentionShape& shape, const std::vector<AttentionJob>& jobs, int64_t max_queries,
                    const std::function<void(const AttentionPiece&)>& body) {
  const std::vector<JobStart> starts = job_starts(shape, jobs, max_queries);
  const std::vector<int64_t> groups = group_starts(shape, jobs, starts, max_queries);
  const int64_t heads = shape.heads / shape.kv_heads;
  parallel_for(static_cast<int64_t>(groups.size()) - 1, [&](int64_t group) {
    const auto after = [](int64_t piece, const JobStart& start) { return piece < start.piece; };
    int64_t job = std::upper_bound(starts.begin(), starts.end(), groups[group], after) - starts.begin() - 1;
    for (int64_t piece = groups[group], count = 0; piece < groups[group + 1]; piece += count) {
      while (piece >= starts[job + 1].piece) ++job;
      const int64_t n = jobs[job].q.rows, chunks = chunk_count(n, max_queries);
      const int64_t local = piece - starts[job].piece;
      const int64_t head = local / chunks * heads, begin = local % chunks * max_queries;
      count = chunks == 1 ? std::min(groups[group + 1], starts[job + 1].piece) - piece : 1;
      body({job, head, head + count * heads, begin, std::min(n, begin + max_queries), starts[job].row,
            starts[job].pair});
    }
  });
}

real* thread_scratch(int64_t count) {
  constexpr int64_t kKept = (int64_t{32} << 20) / int64_t{sizeof(real)};  // more goes back once less is wanted
  thread_local hwy::AlignedFreeUniquePtr<real[]> numbers;
  thread_local int64_t capacity = 0;
  if (count > capacity || (capacity > kKept && count <= kKept)) {
    capacity = 0;
    numbers = hwy::AllocateAligned<real>(static_cast<size_t>(count));
    if (!numbers)
      fail(ErrorKind::out_of_memory, "[attention] no memory for {} MB", count * int64_t{sizeof(real)} >> 20);
    capacity = count;
  }
  return numbers.get();
}

}  // namespace limpid::kernels
