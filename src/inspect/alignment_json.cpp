#include "inspect/alignment_json.h"

#include <nlohmann/json.hpp>

namespace limpid {

using Json = nlohmann::ordered_json;

Json alignment_score_json(const AlignmentScore& score) {
  Json json = {{"which", name_of(score.which)}};
  if (score.which.layer) json["layer"] = *score.which.layer;
  if (score.which.head) json["head"] = *score.which.head;
  json["aer"] = score.counts.error_rate();
  json["precision"] = score.counts.precision();
  json["recall"] = score.counts.recall();
  return json;
}

Json word_attention_json(const WordAttention& attention) {
  return {{"source", attention.source}, {"target", attention.target}, {"attention", attention.pattern}};
}

Picture word_attention_picture(const WordAttention& attention, const std::string& title) {
  Heatmap map{.title = title, .rows = attention.target, .columns = attention.source};
  map.row_count = static_cast<int64_t>(attention.target.size());
  map.column_count = static_cast<int64_t>(attention.source.size());
  for (const std::vector<double>& row : attention.pattern)
    for (double weight : row) map.values.push_back(static_cast<float>(weight));
  return {.title = "", .maps = {map}, .per_row = 1};
}

}  // namespace limpid
