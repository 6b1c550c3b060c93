#include "layers/feed_forward.h"

namespace limpid {

FeedForward::FeedForward(const FeedForwardNames& names, const FeedForwardOptions& options)
    : options_(options), gated_(!names.gate.empty() || !names.gate_up.empty()) {
  std::vector<Linear::Output> outputs;
  if (!names.gate_up.empty()) {
    outputs.push_back({names.gate_up, 2 * options.features});
  } else {
    if (gated_) outputs.push_back({names.gate, options.features});
    outputs.push_back({names.up, options.features});
  }
  up_ = Linear(options.width, outputs, {ParameterRole::feed_forward, options.bias, options.layout, options.initial});
  down_ = Linear(options.features, {{names.down, options.width}},
                 {ParameterRole::feed_forward, options.bias, options.layout, options.initial_output});
}

Tensor FeedForward::forward(Run& run, const Tensor& x, const Sequences* tokens) const {
  auto scope = run.scope("ffn");
  const auto tap = [&](const char* name, Tensor value) {
    return tokens ? run.tap(name, std::move(value), {tokens}) : value;
  };
  Tensor pre = up_.forward(run, x);  // (tokens, d_ff), gated: 2·d_ff
  Tensor post;
  if (gated_) {
    const Tensor gate = tap("gate", pre.columns(0, options_.features));
    const Tensor up = tap("pre", pre.columns(options_.features, options_.features));
    post = gated_activation(run, gate, up, options_.activation, options_.dropout);
  } else {
    pre = tap("pre", std::move(pre));
    post = activation(run, std::move(pre), options_.activation, options_.dropout);
  }
  return down_.forward(run, tap("post", std::move(post)));
}

void FeedForward::visit(const WeightVisitor& visitor) {
  up_.visit(visitor);
  down_.visit(visitor);
}

}  // namespace limpid
