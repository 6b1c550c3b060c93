#pragma once
// The texts of a request that looks at many: those it brings along, or those that the model was trained on.

#include <filesystem>
#include <optional>

#include "server/inspect_call.h"

namespace limpid {

// "texts": a list, of translators also of pairs [source, target]; or "corpus": true for the model's own validation
// texts, "most" of them. None: an empty list. With the request's interventions.
std::vector<Example> read_texts(InspectCall& call);

// One text of those that the model's run folder keeps, to begin with.
std::optional<std::string> example_text(const Session& session, const std::filesystem::path& folder);

}  // namespace limpid
