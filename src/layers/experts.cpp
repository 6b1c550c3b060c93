#include "layers/experts.h"

namespace limpid {
namespace {

FeedForwardNames with_prefix(const std::string& prefix, FeedForwardNames names) {
  for (std::string* name : {&names.up, &names.gate, &names.down}) *name = prefix + *name;
  return names;
}

}  // namespace

Experts::Experts(const ExpertsNames& names, const ExpertsOptions& options) : options_(options) {
  const LinearOptions plain{ParameterRole::feed_forward, false, WeightLayout::out_in, options.each.initial};
  router_ = Linear(options.each.width, {{names.router, options.count}}, plain);
  for (int64_t i = 0; i < options.count; ++i)
    experts_.emplace_back(with_prefix(fmt::format(fmt::runtime(names.prefix), i), names.matrices), options.each);
  if (options.shared.features == 0) return;
  shared_ = FeedForward(with_prefix(names.shared, names.matrices), options.shared);
  shared_gate_ = Linear(options.each.width, {{names.shared_gate, 1}}, plain);
}

Tensor Experts::forward(Run& run, const Tensor& x, const Sequences& tokens) const {
  auto scope = run.scope("ffn");
  const Routes routes =
      route(run, run.tap("router", router_.forward(run, x), {&tokens}), options_.chosen, options_.normalize);
  const Tensor shares = run.tap("shares", routes.shares, {&tokens});
  Tensor sum;
  const auto join = [&](const Tensor& part) { sum = sum.empty() ? part : add(run, sum, part); };
  for (int64_t e = 0; e < options_.count; ++e)
    for (int64_t place = 0; place < options_.chosen; ++place) {
      std::vector<int32_t> rows;  // tokens whose choice in this place is the expert
      for (int64_t t = 0; t < x.rows(); ++t)
        if (routes.experts[t * options_.chosen + place] == e) rows.push_back(static_cast<int32_t>(t));
      if (rows.empty()) continue;
      const Tensor y = experts_[e].forward(run, select_rows(run, x, rows), nullptr);
      join(spread_rows(run, scale_rows(run, y, select_rows(run, shares.columns(place, 1), rows)), rows, x.rows()));
    }
  if (options_.shared.features == 0) return sum;
  // y·σ(g) = y/2 + y/2·tanh(g/2)
  const Tensor half = scale(run, shared_.forward(run, x, nullptr), static_cast<real>(0.5));
  const Tensor gate = scale(run, shared_gate_.forward(run, x), static_cast<real>(0.5));
  join(half);
  join(scale_rows(run, half, activation(run, gate, Activation::tanh)));
  return sum;
}

void Experts::visit(const WeightVisitor& visitor) {
  router_.visit(visitor);
  for (FeedForward& expert : experts_) expert.visit(visitor);
  if (options_.shared.features == 0) return;
  shared_.visit(visitor);
  shared_gate_.visit(visitor);
}

}  // namespace limpid
