#include "tensor/weight.h"

namespace limpid {

void Weight::point_to(DType dtype, const void* numbers, const float* row_scales) {
  offset = index = -1;
  type = dtype;
  data = numbers;
  scales = row_scales;
  packed = is_quantized(type) ? std::make_shared<PackedCache>() : nullptr;
}

void Weight::pack() {
  if (!packed) packed = std::make_shared<PackedCache>();
}

const real* Weight::numbers() const {
  check(data != nullptr, "[weight] {} has no numbers yet: load or initialise the model first", name);
  check(type == kRealType,
        "[weight] {} is stored as {}, which only products and embeddings read: take the model in float32", name,
        name_of(type));
  return static_cast<const real*>(data);
}

ConstMatrix Weight::matrix() const {
  check(shape.size() == 2, "[weight] {} is not a matrix", name);
  return {numbers(), shape[0], shape[1]};
}

}  // namespace limpid
