#pragma once
// A conversation as the tokens that a model was trained to read it as.

#include <nlohmann/json.hpp>

#include "server/served_models.h"

namespace limpid {

// Throws HttpError 400 for messages that are none and for a model without a chat template. `extra`: further variables
// of the template, or null. Messages that cannot come to so few tokens are refused before they are read.
std::vector<int32_t> chat_prompt(const ServedModel& model, const nlohmann::json& messages, const nlohmann::json* extra,
                                 int64_t most_tokens);

}  // namespace limpid
