#pragma once
// /inspect/…: what limpid look shows, over HTTP.

#include "server/inspect_call.h"
#include "server/served_models.h"
#include "server/server.h"

namespace limpid {

// Models and server must outlive each other's use: the routes look models up when they are asked.
void add_inspect_routes(Server& server, const ServedModels& models, const InspectLimits& limits = {});

}  // namespace limpid
