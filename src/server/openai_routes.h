#pragma once
// OpenAI's interface: /v1/models, /v1/completions, /v1/chat/completions, /v1/embeddings.

#include "server/openai_call.h"
#include "server/server.h"

namespace limpid {

// Server and models must outlive the server's running. Models are looked up when a request comes.
void add_openai_routes(Server& server, const ServedModels& models, const RequestLimits& limits = {});

// /v1/embeddings: a vector per text.
Response answer_embeddings(const ServedModels& models, const RequestLimits& limits, Metrics* metrics,
                           const Request& request);

}  // namespace limpid
