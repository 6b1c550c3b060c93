#include "inspect/attribution_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "inspect/csv.h"
#include "inspect/display_text.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

// The name of a part within its block, neurons taken together.
std::string column_of(const LogitPart& part) {
  const size_t dot = part.name.find('.', part.name.find('.') + 1);
  const std::string name = part.name.substr(dot + 1);
  return name.substr(0, name.find(".neuron"));
}

}  // namespace

int32_t token_to_attribute(const Session& session, const Example& example, int64_t position) {
  const int64_t at = position_of(example, position);
  return example.next[at] >= 0 ? example.next[at] : likeliest_token(session.model(), example, at);
}

std::string attributed_text(const Session& session, const Attribution& result, int32_t against) {
  const std::string token = fmt::format("\"{}\"", visible(session.piece(result.token)));
  if (against < 0) return "logit of " + token;
  return fmt::format("logit of {} less that of \"{}\"", token, visible(session.piece(against)));
}

Json attribution_json(const Session& session, const Attribution& result) {
  Json parts = Json::array();
  for (const LogitPart& part : result.parts) {
    parts.push_back({{"name", part.name}, {"value", part.value}});
    if (part.layer >= 0) parts.back()["layer"] = part.layer;
    if (part.index >= 0) parts.back()["index"] = part.index;
    parts.back()["kind"] = part_name(part.kind);
  }
  return {{"position", result.position},
          {"token", session.piece(result.token)},
          {"id", result.token},
          {"logit", result.logit},
          {"sum", result.sum},
          {"error", result.error()},
          {"parts", parts}};
}

std::string attribution_csv(const Attribution& result) {
  std::string text = "part,value\n";
  for (const LogitPart& part : result.parts) text += fmt::format("{},{}\n", csv_field(part.name), part.value);
  return text;
}

Picture attribution_picture(const Session& session, const Example& example, const Attribution& result,
                            int32_t against) {
  std::vector<std::string> columns;
  int64_t layers = 0;
  for (const LogitPart& part : result.parts) {
    layers = std::max(layers, part.layer + 1);
    if (part.layer >= 0 && std::find(columns.begin(), columns.end(), column_of(part)) == columns.end())
      columns.push_back(column_of(part));
  }
  Heatmap blocks{
      .title = "blocks", .columns = columns, .row_count = layers, .column_count = static_cast<int64_t>(columns.size())};
  for (int64_t i = 0; i < layers; ++i) blocks.rows.push_back("block " + std::to_string(i));
  blocks.values.assign(static_cast<size_t>(layers) * columns.size(), 0);
  Heatmap others{.title = "embedding and biases", .rows = {""}, .row_count = 1};
  for (const LogitPart& part : result.parts) {
    if (part.layer < 0) {
      others.columns.push_back(part.name);
      others.values.push_back(static_cast<float>(part.value));
      continue;
    }
    const auto column = std::find(columns.begin(), columns.end(), column_of(part)) - columns.begin();
    blocks.values[static_cast<size_t>(part.layer * blocks.column_count + column)] += static_cast<float>(part.value);
  }
  others.column_count = static_cast<int64_t>(others.columns.size());
  Picture picture{.title = fmt::format("{} after \"{}\": {:.3f}", attributed_text(session, result, against),
                                       visible(example.input[result.position]), result.logit),
                  .per_row = 2,
                  .shared_range = true};
  if (blocks.column_count > 0) picture.maps.push_back(std::move(blocks));
  if (others.column_count > 0) picture.maps.push_back(std::move(others));
  return picture;
}

}  // namespace limpid
