#include "server/inspect_relative.h"

#include <cmath>

#include "inspect/weights.h"
#include "layers/relative_bias.h"

namespace limpid {

DistanceBias distance_bias(const Model& model, const std::string& side, int64_t farthest) {
  const Config& config = model.config();
  if (config.relative == RelativeKind::none) return {};
  const bool encoder = side == "encoder" || !config.writes();
  DistanceBias bias{.heads = (encoder ? config.encoder : config.decoder).heads, .farthest = farthest};
  std::vector<real> slopes, table;
  if (config.relative == RelativeKind::slopes) {
    slopes = alibi_slopes(bias.heads);
    const double scale = config.attention_scale > 0 ? config.attention_scale
                         : config.scale_scores      ? 1 / std::sqrt(static_cast<double>(config.head_size))
                                                    : 1;
    for (real& slope : slopes)
      if (config.slopes_scaled) slope *= static_cast<real>(scale);
  } else {
    table = WeightTable(model).numbers(stack_names(config, side).relative_bias + ".weight");
  }
  const BucketOptions buckets{config.relative_buckets, config.relative_distance, encoder};
  for (int64_t head = 0; head < bias.heads; ++head)
    for (int64_t distance = -farthest; distance <= farthest; ++distance)
      bias.values.push_back(table.empty()
                                ? -slopes[static_cast<size_t>(head)] * static_cast<real>(distance)
                                : table[static_cast<size_t>(bucket_of(distance, buckets) * bias.heads + head)]);
  return bias;
}

}  // namespace limpid
