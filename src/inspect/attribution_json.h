#pragma once
// The parts of a logit as JSON, as a table and as a picture.

#include <nlohmann/json_fwd.hpp>

#include "inspect/attribution.h"
#include "inspect/heatmap.h"

namespace limpid {

// Whose logit is looked at where nobody says: the next token of the text, else the likeliest.
int32_t token_to_attribute(const Session& session, const Example& example, int64_t position);

// "logit of "x" less that of "y"" in words; against: -1 none.
std::string attributed_text(const Session& session, const Attribution& result, int32_t against);

nlohmann::ordered_json attribution_json(const Session& session, const Attribution& result);
std::string attribution_csv(const Attribution& result);

// A row per layer, a column per head or network: where in the model the logit comes from.
Picture attribution_picture(const Session& session, const Example& example, const Attribution& result, int32_t against);

}  // namespace limpid
