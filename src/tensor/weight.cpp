#include "tensor/weight.h"

#include "base/error.h"

namespace limpid {

const real* Weight::numbers() const {
  check(data != nullptr, "[weight] {} has no numbers yet: load or initialise the model first", name);
  check(type == kRealType, "[weight] {} is stored in another precision than it is asked for", name);
  return static_cast<const real*>(data);
}

ConstMatrix Weight::matrix() const {
  check(shape.size() == 2, "[weight] {} is not a matrix", name);
  return {numbers(), shape[0], shape[1]};
}

}  // namespace limpid
