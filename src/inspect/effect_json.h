#pragma once
// What interventions do, as JSON.

#include <nlohmann/json_fwd.hpp>

#include "inspect/effect.h"

namespace limpid {

nlohmann::ordered_json effect_json(const Session& session, const Example& example, const Effect& effect,
                                   int64_t position);

}  // namespace limpid
