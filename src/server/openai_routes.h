#pragma once
// OpenAI's interface: /v1/models, /v1/completions, /v1/chat/completions, /v1/embeddings.

#include "server/served_models.h"
#include "server/server.h"

namespace limpid {

// Models and server must outlive each other's use: the routes look models up when they are asked.
void add_openai_routes(Server& server, const ServedModels& models);

}  // namespace limpid
