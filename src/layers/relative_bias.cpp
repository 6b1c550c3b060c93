#include "layers/relative_bias.h"

#include <algorithm>
#include <cmath>

namespace limpid {
namespace {

std::vector<real> slopes_of_power(int64_t heads) {
  std::vector<real> slopes;
  for (int64_t i = 1; i <= heads; ++i)
    slopes.push_back(static_cast<real>(std::pow(2.0, -8.0 * static_cast<double>(i) / static_cast<double>(heads))));
  return slopes;
}

}  // namespace

int32_t bucket_of(int64_t distance, const BucketOptions& options) {
  const int64_t side = options.both_sides ? options.buckets / 2 : options.buckets;
  const int64_t first = options.both_sides && distance < 0 ? side : 0;
  const int64_t away = options.both_sides ? std::abs(distance) : std::max<int64_t>(distance, 0);
  const int64_t exact = side / 2;
  if (away < exact) return static_cast<int32_t>(first + away);
  // In float, as the models were trained: it decides where a bucket begins.
  const float share = std::log(static_cast<float>(away) / static_cast<float>(exact)) /
                      static_cast<float>(std::log(static_cast<double>(options.farthest) / static_cast<double>(exact)));
  const int64_t bucket = exact + static_cast<int64_t>(share * static_cast<float>(side - exact));
  return static_cast<int32_t>(first + std::min(bucket, side - 1));
}

std::vector<real> alibi_slopes(int64_t heads) {
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<real> slopes = slopes_of_power(power);
  const std::vector<real> between = slopes_of_power(2 * power);
  for (int64_t i = 0; static_cast<int64_t>(slopes.size()) < heads; i += 2) slopes.push_back(between[i]);
  return slopes;
}

RelativeBias RelativeBias::buckets(const std::string& name, int64_t heads, const BucketOptions& options,
                                   const Initial& initial) {
  RelativeBias bias;
  bias.options_ = options;
  bias.weight_ = Weight{
      .name = name + ".weight", .shape = {options.buckets, heads}, .role = ParameterRole::position, .initial = initial};
  return bias;
}

RelativeBias RelativeBias::slopes(std::vector<real> slopes) {
  RelativeBias bias;
  bias.slopes_ = std::move(slopes);
  return bias;
}

void RelativeBias::add_to(Run& run, TokenLayout& layout, const std::vector<int64_t>& before) const {
  if (!weight_ && slopes_.empty()) return;
  int64_t queries = 1, keys = 1;
  for (int64_t i = 0; i < layout.sequences.count(); ++i) {
    const int64_t length = layout.sequences.length(i);
    queries = std::max(queries, length);
    keys = std::max(keys, length + (before.empty() ? 0 : before[i]));
  }
  layout.bias_zero = queries - 1 + kernels::kBiasMargin;
  const int64_t columns = layout.bias_zero + keys + kernels::kBiasMargin;
  if (weight_) {
    std::vector<int32_t> ids(columns);
    for (int64_t c = 0; c < columns; ++c) ids[c] = bucket_of(c - layout.bias_zero, options_);
    layout.bias = bucket_bias(run, *weight_, ids);
    return;
  }
  layout.bias = run.make(static_cast<int64_t>(slopes_.size()), columns, false);
  for (int64_t h = 0; h < layout.bias.rows(); ++h)
    for (int64_t c = 0; c < columns; ++c)
      layout.bias.values()(h, c) = -slopes_[h] * static_cast<real>(c - layout.bias_zero);
}

void RelativeBias::visit(const WeightVisitor& visitor) {
  if (weight_) visitor(*weight_);
}

}  // namespace limpid
