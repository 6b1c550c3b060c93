#pragma once
// Block: one layer of a Transformer ("Attention Is All You Need", Figure 1): self-attention, in decoders of two-stack
// models cross-attention, and the feed-forward network, each with a residual connection and a norm or two. Parallel
// blocks (GPT-J) let attention and feed-forward network read the same vector.

#include <optional>

#include "layers/attention.h"
#include "layers/experts.h"
#include "layers/norm.h"

namespace limpid {

struct BlockNames {
  std::string norm_self, norm_cross, norm_ffn;
  std::string norm_self_out = {}, norm_ffn_out = {};  // behind the sub-layer, before its output joins the stream
  AttentionNames self, cross;
  FeedForwardNames ffn;
  ExpertsNames experts = {};
};

struct BlockOptions {
  AttentionOptions self;
  std::optional<AttentionOptions> cross;
  std::optional<FeedForwardOptions> ffn;
  std::optional<ExpertsOptions> experts = {};  // instead of the one feed-forward network
  NormOptions norm;
  bool norm_before = true;   // x + f(norm(x)), or with none of these f(x)
  bool norm_after = false;   // norm(x + f(x))
  bool norm_output = false;  // x + norm(f(…))
  bool norm_of_self = true;  // false: attention reads its input as it is
  bool parallel = false;     // attention and feed-forward network read the same vector
  bool one_norm = true;      // and by one norm
  bool residual = true;
  real residual_factor = 1;            // on a sub-layer's output
  const char* attention_tap = "attn";  // where its self-attention is tapped; models of two stacks say "self_attn"
  double dropout = 0;                  // on a sub-layer's output, before it joins the residual stream
};

class Block {
 public:
  Block(std::string tap_name, const BlockNames& names, const BlockOptions& options);

  // x (tokens, width). The memory is an encoder's output; models of one stack have none.
  Tensor forward(Run& run, Tensor x, const TokenLayout& layout, const Tensor& memory = {},
                 const Sequences& memory_sequences = {}) const;
  void visit(const WeightVisitor& visitor);

 private:
  struct SubLayer {
    const Norm& norm;
    const char *norm_tap, *output_tap;
    const Norm* output_norm = nullptr;
    const char* output_norm_tap = "";
    bool normed = true;  // false: its input is not normalised before it
  };
  // x + f(of `read`), with the norms where they stand.
  template <class Function>
  Tensor residual(Run& run, const Tensor& x, const Tensor& read, const Sequences& tokens, const SubLayer& sub,
                  const Function& function) const;
  Tensor feed_forward(Run& run, const Tensor& x, const Sequences& tokens) const;
  bool has_ffn() const { return options_.ffn || options_.experts; }

  std::string tap_name_;  // "decoder.3", "blocks.3"
  BlockOptions options_;
  Attention self_attention_, cross_attention_;
  FeedForward feed_forward_;
  Experts experts_;
  Norm norm_self_, norm_cross_, norm_ffn_, norm_self_out_, norm_ffn_out_;
};

}  // namespace limpid
