#pragma once
// Block: one layer of a Transformer ("Attention Is All You Need", Figure 1): self-attention, in decoders of two-stack
// models cross-attention, and the feed-forward network, each with a residual connection and a norm.

#include <optional>

#include "layers/attention.h"
#include "layers/feed_forward.h"
#include "layers/norm.h"

namespace limpid {

struct BlockNames {
  std::string norm_self, norm_cross, norm_ffn;
  AttentionNames self, cross;
  FeedForwardNames ffn;
};

struct BlockOptions {
  AttentionOptions self;
  std::optional<AttentionOptions> cross;
  std::optional<FeedForwardOptions> ffn;
  NormOptions norm;
  bool norm_first = true;  // pre-norm; false: post-norm
  bool residual = true;
  const char* attention_tap = "attn";  // where its self-attention is tapped; models of two stacks say "self_attn"
  double dropout = 0;                  // on a sub-layer's output, before it joins the residual stream
};

class Block {
 public:
  Block(std::string tap_name, const BlockNames& names, const BlockOptions& options);

  // x (tokens, width). The memory is an encoder's output; models of one stack have none.
  Tensor forward(Run& run, Tensor x, const Stream& stream, const Tensor& memory = {},
                 const Sequences& memory_sequences = {}) const;
  void visit(const WeightVisitor& visitor);

 private:
  struct SubLayer {
    const Norm& norm;
    const char *norm_tap, *output_tap;
  };
  template <class Function>
  Tensor residual(Run& run, const Tensor& x, const Sequences& tokens, const SubLayer& sub,
                  const Function& function) const;

  std::string tap_name_;  // "decoder.3", "blocks.3"
  BlockOptions options_;
  Attention self_attention_, cross_attention_;
  FeedForward feed_forward_;
  Norm norm_self_, norm_cross_, norm_ffn_;
};

}  // namespace limpid
