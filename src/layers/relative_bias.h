#pragma once
// RelativeBias: what self-attention adds to the score of a query and a key by their distance. Learned for buckets of
// distances (T5, Raffel et al. 2020; MPNet), or a slope of each head (ALiBi, Press et al. 2022). All layers share it.

#include "autograd/ops.h"
#include "layers/token_layout.h"

namespace limpid {

struct BucketOptions {
  int64_t buckets = 32;
  int64_t farthest = 128;  // distances from here on share the last bucket
  bool both_sides = true;  // half of the buckets are for keys behind the query; false: these share bucket 0
};

// The bucket of a key that stands `distance` tokens before the query (below 0: behind it).
int32_t bucket_of(int64_t distance, const BucketOptions& options);

// ALiBi's slopes, 2^(-8i/n) for a power of two; else those of the powers of two around it.
std::vector<real> alibi_slopes(int64_t heads);

class RelativeBias {
 public:
  RelativeBias() = default;
  static RelativeBias buckets(const std::string& name, int64_t heads, const BucketOptions& options,
                              const Initial& initial);
  static RelativeBias slopes(std::vector<real> slopes);

  // Gives the stream its table: for sequences of which so many tokens were read before.
  void add_to(Run& run, TokenLayout& layout, const std::vector<int64_t>& before) const;
  void visit(const WeightVisitor& visitor);

 private:
  BucketOptions options_;
  std::optional<Weight> weight_;
  std::vector<real> slopes_;
};

}  // namespace limpid
