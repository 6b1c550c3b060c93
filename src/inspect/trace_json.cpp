#include "inspect/trace_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "inspect/display_text.h"
#include "inspect/place.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string>& side_tokens(const Example& example, const std::string& side) {
  return side == "encoder" ? example.source : example.input;
}

}  // namespace

std::vector<int64_t> subject_positions(const Session& session, const Example& example, const std::string& side,
                                       const std::string& subject) {
  const std::vector<std::string>& tokens = side_tokens(example, side);
  const auto count = static_cast<int64_t>(tokens.size());
  int64_t first = 0, last = 0;
  if (parse_range(subject, first, last)) return chosen_positions({.positions = {{first, last}}}, count, tokens);
  const Tokenizer& tokenizer = side == "encoder" ? session.reader() : session.writer();
  const Tokens& text = side == "encoder" ? example.batch.source : example.batch.input;
  for (const std::string& spelling : {subject, " " + subject}) {
    const std::vector<int32_t> ids = tokenizer.encode(spelling);
    const auto at = std::search(text.ids.begin(), text.ids.end(), ids.begin(), ids.end());
    if (ids.empty() || at == text.ids.end()) continue;
    std::vector<int64_t> positions;
    for (size_t i = 0; i < ids.size(); ++i) positions.push_back(at - text.ids.begin() + static_cast<int64_t>(i));
    return positions;
  }
  fail("[trace] the text does not say \"{}\" in these tokens: give positions as the subject, such as 0..1", subject);
}

Json trace_json(const Session& session, const Example& example, const Trace& trace, const TraceOptions& options) {
  Json json = {{"answer", session.piece(options.answer)},
               {"answer_id", options.answer},
               {"clean", trace.clean},
               {"corrupted", trace.corrupted},
               {"noise_sigma", trace.deviation},
               {"samples", options.samples},
               {"window", options.window},
               {"tokens", side_tokens(example, options.side)}};
  for (const TraceMap& map : trace.maps) {
    Json layers = Json::array();
    for (size_t layer = 0; layer < map.taps.size(); ++layer) {
      const auto begin = map.probability.begin() + static_cast<ptrdiff_t>(layer) * trace.positions;
      layers.push_back(
          {{"tap", map.taps[layer]}, {"probability", std::vector<double>(begin, begin + trace.positions)}});
    }
    json["maps"][map.name] = layers;
  }
  return json;
}

Picture trace_picture(const Session& session, const Example& example, const Trace& trace, const TraceOptions& options) {
  const std::string corrupted =
      trace.deviation > 0 ? fmt::format("noise of σ = {:.3g} on the subject", trace.deviation) : "the other text";
  Picture picture{.title = fmt::format("\"{}\": probability {:.3f}, with {} {:.3f}; what each vector brings back",
                                       visible(session.piece(options.answer)), trace.clean, corrupted, trace.corrupted),
                  .per_row = 1,
                  .shared_range = true};
  for (const TraceMap& map : trace.maps) {
    Heatmap heat{.title = map.name, .row_name = "", .column_name = "position"};
    heat.row_count = static_cast<int64_t>(map.taps.size());
    heat.column_count = trace.positions;
    for (int64_t layer = heat.row_count - 1; layer >= 0; --layer) {
      heat.rows.push_back(std::to_string(layer));
      for (int64_t i = 0; i < trace.positions; ++i)
        heat.values.push_back(static_cast<float>(map.probability[layer * trace.positions + i] - trace.corrupted));
    }
    for (const std::string& token : side_tokens(example, options.side)) heat.columns.push_back(visible(token));
    picture.maps.push_back(std::move(heat));
  }
  return picture;
}

}  // namespace limpid
