#include "layers/additive_attention.h"

#include <cmath>

namespace limpid {

AdditiveAttention::AdditiveAttention(const std::string& prefix, int64_t hidden, int64_t memory_width)
    : query_(hidden, {{prefix + ".attn_query", hidden}},
             {.role = ParameterRole::attention, .bias = false, .initial = Initial::glorot(hidden, hidden)}),
      key_(memory_width, {{prefix + ".attn_key", hidden}},
           {.role = ParameterRole::attention, .initial = Initial::glorot(memory_width, hidden)}),
      v_{.name = prefix + ".attn_v",
         .shape = {hidden},
         .role = ParameterRole::attention,
         .initial = Initial::uniform(1 / std::sqrt(static_cast<double>(hidden)))} {}

Tensor AdditiveAttention::context(Run& run, const Tensor& state, const Tensor& keys, const Tensor& memory,
                                  const Sequences& memory_sequences, const TapLayout& layout) const {
  AttentionBatch batch{.shape = {.head_size = memory.cols()}, .queries = *layout.rows, .keys = memory_sequences};
  const Tensor scores = additive_scores(run, query_.forward(run, state), keys, v_, batch.queries, batch.keys);
  TapLayout pairs = layout;
  pairs.keys = &batch.keys;
  const Tensor align = run.tap("align", attention_softmax(run, scores, batch), pairs);
  return run.tap("context", attention_values(run, align, memory, batch, 0), layout);
}

void AdditiveAttention::visit(const WeightVisitor& visitor) {
  query_.visit(visitor);
  key_.visit(visitor);
  visitor(v_);
}

}  // namespace limpid
