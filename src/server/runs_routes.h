#pragma once
// /runs/…: training runs, while they go on in this process or another, and afterwards.

#include "server/runs_events.h"
#include "server/server.h"

namespace limpid {

// Runs, events and server must outlive each other's use. What was added to `runs` before start() is served.
void add_runs_routes(Server& server, const WatchedRuns& runs, RunEvents& events);

}  // namespace limpid
