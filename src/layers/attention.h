#pragma once
// Multi-head attention ("Attention Is All You Need", section 3.2): queries of one stream look at keys of the same or of
// another stream and gather their values. Self or cross, causal or not, with grouped keys, with rotary positions, in a
// window, with norms of queries and keys.

#include <optional>

#include "layers/linear.h"
#include "layers/norm.h"
#include "layers/rope.h"
#include "layers/token_layout.h"

namespace limpid {

struct AttentionNames {
  std::vector<std::string> qkv;  // query, key, value; or one matrix for all three
  std::string output;
  std::string q_norm = {}, k_norm = {};
};

struct AttentionOptions {
  int64_t width = 0;  // of the residual stream
  AttentionShape shape;
  bool cross = false;
  bool bias = true;                         // of query, key and value
  bool output_bias = true;                  // of the projection back
  std::optional<NormOptions> qk_norm = {};  // its parts are set here: one, or the heads
  bool norm_heads = false;                  // each head by itself
  real clip = 0;                            // of queries, keys and values; 0: none
  bool fused_by_heads = false;              // one matrix, in the file with a key's queries, key and value together
  WeightLayout layout = WeightLayout::out_in;
  double dropout = 0;
  std::optional<RopeConfig> rope = {};
  Initial initial, initial_output;
  int64_t cache_layer = 0;  // where its keys and values stand in a cache
};

class Attention {
 public:
  Attention() = default;
  Attention(const AttentionNames& names, const AttentionOptions& options);

  // Self-attention: x looks at itself. Where the run has a cache, also at what it holds, and x is added to it.
  Tensor forward(Run& run, const Tensor& x, const TokenLayout& layout) const;
  // Cross-attention: x looks at the memory, an encoder's output. Where the run has a cache, the keys and values of the
  // sequences that have none there yet are computed and kept; from then on the memory of a sequence may have length 0,
  // and where no sequence is new it may be empty.
  Tensor forward(Run& run, const Tensor& x, const TokenLayout& layout, const Tensor& memory,
                 const Sequences& memory_sequences) const;
  void visit(const WeightVisitor& visitor);

 private:
  Tensor attend(Run& run, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionBatch& batch) const;
  // Clipped, normalised, turned by positions: what of that the model has.
  Tensor prepare(Run& run, Tensor x, const TokenLayout& layout, const char* name, const std::optional<Norm>& norm,
                 int64_t heads) const;
  std::vector<RotatedRows> rotations(const TokenLayout& layout) const;
  // Where a longer text is turned by other angles, what was read of a sequence is turned on.
  void turn_on(KeyValueCache::Entry& entry, int64_t length) const;

  AttentionOptions options_;
  Linear qkv_;     // self-attention: query, key, value of x
  Linear q_, kv_;  // cross-attention: query of x; key, value of the memory
  Linear output_;
  std::optional<Norm> q_norm_, k_norm_;
  Rope rope_;
};

}  // namespace limpid
