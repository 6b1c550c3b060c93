#include "layers/block.h"

namespace limpid {

Block::Block(std::string tap_name, const BlockNames& names, const BlockOptions& options)
    : tap_name_(std::move(tap_name)), options_(options), self_attention_(names.self, options.self) {
  norm_self_ = Norm(names.norm_self, options.self.width, options.norm);
  if (options.cross) {
    cross_attention_ = Attention(names.cross, *options.cross);
    norm_cross_ = Norm(names.norm_cross, options.self.width, options.norm);
  }
  if (options.ffn) {
    feed_forward_ = FeedForward(names.ffn, *options.ffn);
    norm_ffn_ = Norm(names.norm_ffn, options.self.width, options.norm);
  }
}

// The one place that knows where the norm stands: x + f(norm(x)) or norm(x + f(x)).
template <class Function>
Tensor Block::residual(Run& run, const Tensor& x, const Sequences& tokens, const SubLayer& sub,
                       const Function& function) const {
  Tensor y = function(options_.norm_first ? sub.norm.forward(run, x, sub.norm_tap, tokens) : x);
  y = run.tap(sub.output_tap, std::move(y), {&tokens});
  y = dropout_add(run, options_.residual ? x : Tensor{}, std::move(y), options_.dropout);
  return options_.norm_first ? y : sub.norm.forward(run, y, sub.norm_tap, tokens);
}

Tensor Block::forward(Run& run, Tensor x, const Stream& stream, const Tensor& memory,
                      const Sequences& memory_sequences) const {
  auto scope = run.scope(tap_name_);
  const Sequences& tokens = stream.sequences;
  const bool cross = options_.cross.has_value();
  x = run.tap("resid_pre", std::move(x), {&tokens});
  x = residual(run, x, tokens, {norm_self_, "norm1", "attn_out"}, [&](const Tensor& y) {
    auto attention_scope = run.scope(options_.attention_tap);
    return self_attention_.forward(run, y, stream);
  });
  if (options_.ffn || cross) x = run.tap("resid_mid", std::move(x), {&tokens});
  if (cross) {
    x = residual(run, x, tokens, {norm_cross_, "norm_cross", "cross_attn_out"}, [&](const Tensor& y) {
      auto attention_scope = run.scope("cross_attn");
      return cross_attention_.forward(run, y, stream, memory, memory_sequences);
    });
    if (options_.ffn) x = run.tap("resid_mid_cross", std::move(x), {&tokens});
  }
  if (options_.ffn) {
    x = residual(run, x, tokens, {norm_ffn_, "norm2", "ffn_out"},
                 [&](const Tensor& y) { return feed_forward_.forward(run, y, tokens); });
  }
  return run.tap("resid_post", std::move(x), {&tokens});
}

void Block::visit(const WeightVisitor& visitor) {
  self_attention_.visit(visitor);
  norm_self_.visit(visitor);
  if (options_.cross) {
    cross_attention_.visit(visitor);
    norm_cross_.visit(visitor);
  }
  if (options_.ffn) {
    feed_forward_.visit(visitor);
    norm_ffn_.visit(visitor);
  }
}

}  // namespace limpid
