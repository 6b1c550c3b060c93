#include "layers/positions.h"

#include <algorithm>
#include <cmath>

namespace limpid {

std::vector<real> sinusoids(int64_t positions, int64_t width, bool interleaved) {
  std::vector<real> table(positions * width);
  for (int64_t position = 0; position < positions; ++position) {
    real* row = table.data() + position * width;
    for (int64_t i = 0; i < width / 2; ++i) {
      const double angle =
          static_cast<double>(position) / std::pow(10000.0, 2.0 * static_cast<double>(i) / static_cast<double>(width));
      row[interleaved ? 2 * i : i] = static_cast<real>(std::sin(angle));
      row[interleaved ? 2 * i + 1 : width / 2 + i] = static_cast<real>(std::cos(angle));
    }
  }
  return table;
}

Positions Positions::sinusoidal(int64_t max_positions, int64_t width, bool interleaved) {
  Positions result;
  result.max_positions_ = max_positions;
  result.sinusoids_ = std::make_shared<std::vector<real>>(sinusoids(max_positions, width, interleaved));
  result.table_ = {.name = "sinusoids", .shape = {max_positions, width}, .part = Part::position};
  result.table_.data = result.sinusoids_->data();
  return result;
}

Positions Positions::learned(const std::string& name, int64_t max_positions, int64_t width, const Initial& initial) {
  Positions result;
  result.max_positions_ = max_positions;
  result.learned_ = true;
  result.table_ = {
      .name = name + ".weight", .shape = {max_positions, width}, .part = Part::position, .initial = initial};
  return result;
}

Tensor Positions::forward(Run& run, const Stream& stream) const {
  const auto last = std::max_element(stream.positions.begin(), stream.positions.end());
  check(
      last == stream.positions.end() || *last < max_positions_,
      "[positions] a sequence reaches token {}, but the model knows only {} positions: shorten the text",
      [&] { return *last + 1; }, max_positions_);
  return embedding(run, table_, stream.positions);
}

void Positions::visit(const WeightVisitor& visitor) {
  if (learned_) visitor(table_);
}

}  // namespace limpid
