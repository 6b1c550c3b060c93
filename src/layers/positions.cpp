#include "layers/positions.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace limpid {

std::vector<real> sinusoids(int64_t positions, int64_t width, SinusoidLayout layout) {
  const bool interleaved = layout == SinusoidLayout::interleaved;
  const double steps = layout == SinusoidLayout::fairseq ? static_cast<double>(std::max<int64_t>(width / 2 - 1, 1))
                                                         : static_cast<double>(width) / 2;
  std::vector<real> table(positions * width);
  for (int64_t position = 0; position < positions; ++position) {
    real* row = table.data() + position * width;
    for (int64_t i = 0; i < width / 2; ++i) {
      const double angle = static_cast<double>(position) / std::pow(10000.0, static_cast<double>(i) / steps);
      row[interleaved ? 2 * i : i] = static_cast<real>(std::sin(angle));
      row[interleaved ? 2 * i + 1 : width / 2 + i] = static_cast<real>(std::cos(angle));
    }
  }
  return table;
}

std::shared_ptr<const std::vector<real>> SinusoidTable::rows(int64_t count) {
  const std::scoped_lock lock(mutex_);
  if (!table_ || std::ssize(*table_) < count * width_) {
    const auto more = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(count, 256))));
    table_ = std::make_shared<const std::vector<real>>(sinusoids(more, width_, layout_));
  }
  return table_;
}

Positions Positions::sinusoidal(int64_t max_positions, int64_t offset, int64_t width, SinusoidLayout layout) {
  Positions result;
  result.max_positions_ = max_positions;
  result.offset_ = offset;
  result.sinusoids_ = std::make_shared<SinusoidTable>(width, layout);
  result.table_ = {.name = "sinusoids", .shape = {max_positions + offset, width}, .role = ParameterRole::position};
  return result;
}

Positions Positions::learned(const std::string& name, int64_t max_positions, int64_t offset, int64_t width,
                             const Initial& initial) {
  Positions result;
  result.max_positions_ = max_positions;
  result.offset_ = offset;
  result.learned_ = true;
  result.table_ = {.name = name + ".weight",
                   .shape = {max_positions + offset, width},
                   .role = ParameterRole::position,
                   .initial = initial};
  return result;
}

Tensor Positions::forward(Run& run, const TokenLayout& layout) const {
  const auto last = std::max_element(layout.positions.begin(), layout.positions.end());
  check(
      last == layout.positions.end() || *last < max_positions_,
      "[positions] a sequence reaches token {}, but the model knows only {} positions: shorten the text",
      [&] { return *last + 1; }, max_positions_);
  std::vector<int32_t> rows = layout.positions;
  for (int32_t& row : rows) row += static_cast<int32_t>(offset_);
  if (learned_) return embedding(run, table_, rows);
  const auto numbers = sinusoids_->rows(last == layout.positions.end() ? 0 : *last + 1 + offset_);
  Weight table = table_;
  table.point_to(kRealType, numbers->data());
  return embedding(run, table, rows);
}

void Positions::visit(const WeightVisitor& visitor) {
  if (learned_) visitor(table_);
}

}  // namespace limpid
