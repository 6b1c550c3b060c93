#include "layers/positions.h"

#include <gtest/gtest.h>

#include "autograd/parameters.h"

namespace limpid {
namespace {

TEST(Positions, OfNoTokensAreNone) {
  Positions learned = Positions::learned("table", 8, 2, 4, Initial::normal(1));
  Parameters parameters([&](const WeightVisitor& visitor) { learned.visit(visitor); });
  parameters.initialize(1);
  const Positions sinusoidal = Positions::sinusoidal(8, 0, 4, SinusoidLayout::halves);
  for (const Positions* positions : {&std::as_const(learned), &sinusoidal}) {
    limpid::Run run({});
    const Tensor rows = positions->forward(run, TokenLayout::of(Sequences(std::vector<int64_t>{}), {}));
    EXPECT_EQ(rows.rows(), 0);
    EXPECT_EQ(rows.cols(), 4);
  }
}

TEST(Positions, BeyondTheLastAreAnError) {
  const Positions positions = Positions::sinusoidal(3, 0, 4, SinusoidLayout::halves);
  limpid::Run run({});
  EXPECT_EQ(positions.forward(run, TokenLayout::of(Sequences(std::vector<int64_t>{3, 1}), {})).rows(), 4);
  EXPECT_THROW(positions.forward(run, TokenLayout::of(Sequences(std::vector<int64_t>{4}), {})), Error);
}

}  // namespace
}  // namespace limpid
