#include "inspect/lens_json.h"

#include <nlohmann/json.hpp>

#include "inspect/display_text.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

Json cell_json(const Session& session, const Example& example, const LensCell& cell, int64_t position) {
  Json top = Json::array();
  for (const LensToken& token : cell.top)
    top.push_back({{"token", session.piece(token.id)}, {"id", token.id}, {"probability", token.probability}});
  Json json = {
      {"position", position}, {"token", example.input[position]}, {"top", top}, {"entropy_bits", cell.entropy}};
  if (cell.watched >= 0)
    json["watched"] = {{"token", session.piece(cell.watched)},
                       {"id", cell.watched},
                       {"rank", cell.rank},
                       {"probability", cell.probability},
                       {"logit", cell.logit}};
  return json;
}

}  // namespace

Json lens_json(const Session& session, const Example& example, const LensTable& table) {
  Json layers = Json::array();
  for (size_t layer = 0; layer < table.layers.size(); ++layer) {
    Json positions = Json::array();
    for (int64_t i = 0; i < table.positions; ++i)
      positions.push_back(cell_json(session, example, table.at(static_cast<int64_t>(layer), i), table.first + i));
    layers.push_back({{"layer", table.layers[layer]}, {"positions", std::move(positions)}});
  }
  return {{"lens", std::move(layers)}};
}

Picture lens_picture(const Session& session, const Example& example, const LensTable& table) {
  Heatmap map{.title = "logit lens: probability of the watched token", .row_name = "", .column_name = "position"};
  map.row_count = static_cast<int64_t>(table.layers.size());
  map.column_count = table.positions;
  for (int64_t layer = map.row_count - 1; layer >= 0; --layer) {
    map.rows.push_back(table.layers[layer]);
    for (int64_t i = 0; i < table.positions; ++i)
      map.values.push_back(static_cast<float>(table.at(layer, i).probability));
  }
  for (int64_t i = 0; i < table.positions; ++i) {
    const int32_t watched = table.at(0, i).watched;
    map.columns.push_back(visible(example.input[table.first + i]) + " → " +
                          (watched < 0 ? "" : visible(session.piece(watched))));
  }
  return {.title = "", .maps = {map}, .per_row = 1};
}

}  // namespace limpid
