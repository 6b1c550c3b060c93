#pragma once
// Multi-head attention ("Attention Is All You Need", section 3.2): queries of one stream look at keys of the same or of
// another stream and gather their values. Self or cross, causal or not, with grouped keys, with rotary positions.

#include "layers/linear.h"
#include "layers/stream.h"

namespace limpid {

struct AttentionNames {
  std::vector<std::string> qkv;  // query, key, value; or one matrix for all three
  std::string output;
};

struct AttentionOptions {
  int64_t width = 0;  // of the residual stream
  AttentionShape shape;
  bool cross = false;
  bool bias = true;
  WeightLayout layout = WeightLayout::out_in;
  double dropout = 0;
  real rope_theta = 0;  // 0: no rotary positions
  Initial initial, initial_output;
  int64_t cache_layer = 0;  // where its keys and values stand in a cache
};

class Attention {
 public:
  Attention() = default;
  Attention(const AttentionNames& names, const AttentionOptions& options);

  // Self-attention: x looks at itself. Where the run has a cache, also at what it holds, and x is added to it.
  Tensor forward(Run& run, const Tensor& x, const Stream& stream) const;
  // Cross-attention: x looks at the memory, an encoder's output. Where the run has a cache, the keys and values of the
  // sequences that have none there yet are computed and kept; from then on the memory of a sequence may have length 0,
  // and where no sequence is new it may be empty.
  Tensor forward(Run& run, const Tensor& x, const Stream& stream, const Tensor& memory,
                 const Sequences& memory_sequences) const;
  void visit(const WeightVisitor& visitor);

 private:
  Tensor attend(Run& run, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionBatch& batch) const;
  Tensor turn(Run& run, const Tensor& x, const Stream& stream, const char* tap, int64_t heads) const;

  AttentionOptions options_;
  Linear qkv_;     // self-attention: query, key, value of x
  Linear q_, kv_;  // cross-attention: query of x; key, value of the memory
  Linear output_;
};

}  // namespace limpid
