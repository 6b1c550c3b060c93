#include "layers/embedding.h"

namespace limpid {

Tensor Embedding::forward(Run& run, std::span<const int32_t> ids, const TokenLayout& layout) const {
  const Sequences& tokens = layout.sequences;
  Tensor x = run.tap("embed", embedding(run, *table_, ids, factor_), {&tokens});
  if (projection_) x = run.tap("embed_in", projection_->forward(run, x), {&tokens});
  if (!positions_.none()) x = add(run, x, run.tap("pos_embed", positions_.forward(run, layout), {&tokens}));
  if (segments_) {  // every token of a plain text belongs to the first segment
    const std::vector<int32_t> first(ids.size(), 0);
    x = add(run, x, run.tap("segment_embed", embedding(run, *segments_, first), {&tokens}));
  }
  if (norm_) x = norm_->forward(run, x, "embed_norm", tokens);
  return dropout_add(run, {}, std::move(x), dropout_);
}

void Embedding::visit(const WeightVisitor& visitor) {
  if (projection_) projection_->visit(visitor);
  positions_.visit(visitor);
  if (segments_) visitor(*segments_);
  if (norm_) norm_->visit(visitor);
}

}  // namespace limpid
