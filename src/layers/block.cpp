#include "layers/block.h"

namespace limpid {

Block::Block(std::string tap_name, const BlockNames& names, const BlockOptions& options)
    : tap_name_(std::move(tap_name)), options_(options), self_attention_(names.self, options.self) {
  const auto norm = [&](const std::string& name) { return Norm(name, options.self.width, options.norm); };
  norm_self_ = norm(names.norm_self);
  norm_self_out_ = norm(names.norm_self_out);
  if (options.cross) {
    cross_attention_ = Attention(names.cross, *options.cross);
    norm_cross_ = norm(names.norm_cross);
  }
  if (options.ffn) feed_forward_ = FeedForward(names.ffn, *options.ffn);
  if (options.experts) experts_ = Experts(names.experts, *options.experts);
  norm_ffn_ = norm(names.norm_ffn);
  norm_ffn_out_ = norm(names.norm_ffn_out);
}

// The one place that knows where the norms stand.
template <class Function>
Tensor Block::residual(Run& run, const Tensor& x, const Tensor& read, const Sequences& tokens, const SubLayer& sub,
                       const Function& function) const {
  const bool first = options_.norm_before && sub.normed;
  Tensor y = function(first ? sub.norm.forward(run, read, sub.norm_tap, tokens) : read);
  y = run.tap(sub.output_tap, std::move(y), {&tokens});
  if (options_.norm_output) y = sub.output_norm->forward(run, y, sub.output_norm_tap, tokens);
  if (options_.residual_factor != 1) y = scale(run, y, options_.residual_factor);
  y = dropout_add(run, options_.residual ? x : Tensor{}, std::move(y), options_.dropout);
  return options_.norm_after ? sub.norm.forward(run, y, sub.norm_tap, tokens) : y;
}

Tensor Block::feed_forward(Run& run, const Tensor& x, const Sequences& tokens) const {
  return options_.experts ? experts_.forward(run, x, tokens) : feed_forward_.forward(run, x, &tokens);
}

Tensor Block::forward(Run& run, Tensor x, const TokenLayout& layout, const Tensor& memory,
                      const Sequences& memory_sequences) const {
  auto scope = run.scope(tap_name_);
  const Sequences& tokens = layout.sequences;
  const bool cross = options_.cross.has_value(), shared = options_.parallel && options_.one_norm;
  x = run.tap("resid_pre", std::move(x), {&tokens});
  // What the feed-forward network of a parallel block reads: the block's input, or its one norm.
  Tensor read = options_.parallel ? x : Tensor{};
  if (shared) read = norm_self_.forward(run, x, "norm1", tokens);
  x = residual(run, x, shared ? read : x, tokens,
               {norm_self_, "norm1", "attn_out", &norm_self_out_, "norm1_post", options_.norm_of_self && !shared},
               [&](const Tensor& y) {
                 auto attention_scope = run.scope(options_.attention_tap);
                 return self_attention_.forward(run, y, layout);
               });
  if (has_ffn() || cross) x = run.tap("resid_mid", std::move(x), {&tokens});
  if (cross) {
    x = residual(run, x, x, tokens, {norm_cross_, "norm_cross", "cross_attn_out"}, [&](const Tensor& y) {
      auto attention_scope = run.scope("cross_attn");
      return cross_attention_.forward(run, y, layout, memory, memory_sequences);
    });
    if (has_ffn()) x = run.tap("resid_mid_cross", std::move(x), {&tokens});
  }
  if (has_ffn()) {
    x = residual(run, x, options_.parallel ? read : x, tokens,
                 {norm_ffn_, "norm2", "ffn_out", &norm_ffn_out_, "norm2_post", !shared},
                 [&](const Tensor& y) { return feed_forward(run, y, tokens); });
  }
  return run.tap("resid_post", std::move(x), {&tokens});
}

void Block::visit(const WeightVisitor& visitor) {
  const bool plain = options_.norm_before || options_.norm_after;
  self_attention_.visit(visitor);
  if (plain && options_.norm_of_self) norm_self_.visit(visitor);
  if (options_.norm_output) norm_self_out_.visit(visitor);
  if (options_.cross) {
    cross_attention_.visit(visitor);
    norm_cross_.visit(visitor);
  }
  if (!has_ffn()) return;
  options_.experts ? experts_.visit(visitor) : feed_forward_.visit(visitor);
  if (plain && !(options_.parallel && options_.one_norm)) norm_ffn_.visit(visitor);
  if (options_.norm_output) norm_ffn_out_.visit(visitor);
}

}  // namespace limpid
