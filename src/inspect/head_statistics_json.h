#pragma once
// Statistics of heads as JSON and as a table.

#include <nlohmann/json_fwd.hpp>

#include "inspect/head_statistics.h"

namespace limpid {

nlohmann::ordered_json heads_json(const std::vector<HeadStatistics>& heads);
std::string heads_csv(const std::vector<HeadStatistics>& heads);

// Random tokens of this model's vocabulary, its special ones left out; length and seed as given.
InductionOptions induction_options(const Session& session, InductionOptions options = {});

}  // namespace limpid
