#pragma once
// The logit lens as JSON and as a picture.

#include <nlohmann/json_fwd.hpp>

#include "inspect/heatmap.h"
#include "inspect/lens.h"

namespace limpid {

nlohmann::ordered_json lens_json(const Session& session, const Example& example, const LensTable& table);

// Probability of the watched token, layers upwards as in the model.
Picture lens_picture(const Session& session, const Example& example, const LensTable& table);

}  // namespace limpid
