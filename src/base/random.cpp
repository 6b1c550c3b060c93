#include "base/random.h"

#include <cmath>
#include <numbers>

namespace limpid {

double Random::normal() {  // Box & Muller 1958, one of the pair
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace limpid
