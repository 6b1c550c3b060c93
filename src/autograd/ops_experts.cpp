// Which experts a token takes, and by what shares. Letters: T tokens, E experts, k chosen.

#include "autograd/ops.h"
#include "kernels/routing.h"

namespace limpid {

Routes route(Run& run, const Tensor& logits, int64_t chosen, bool normalize) {
  const int64_t rows = logits.rows(), count = logits.cols();
  check(chosen >= 1 && chosen <= count, "[experts] {} of {} experts", chosen, count);
  const bool records = run.records({&logits});
  Tensor shares = run.make(rows, chosen, records), all(run.arena(), rows, count);
  std::vector<int32_t> experts(rows * chosen);
  kernels::route_forward(logits.values(), chosen, normalize, all.values(), experts.data(), shares.values());
  if (records) {
    run.tape()->record(
        [logits = logits.gradient_only(), shares = shares.gradient_only(), all, experts, normalize](Tape& tape) {
          const ConstMatrix dshares = tape.grad(shares);
          if (dshares.rows == 0) return;
          kernels::route_backward(all.values(), experts.data(), normalize, dshares, tape.grad_out_to_add(logits));
        });
  }
  return {std::move(experts), std::move(shares)};
}

}  // namespace limpid
