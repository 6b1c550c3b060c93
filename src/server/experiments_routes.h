#pragma once
// /experiments/…: results of limpid experiment as data, and small trainings that a page can ask for.

#include <filesystem>

#include "experiments/experiment.h"
#include "server/server.h"

namespace limpid {

// `results` is a folder that limpid experiment wrote, or empty: then all are listed as not run.
// The laboratory's model is trained as the experiments of this size train theirs.
void add_experiments_routes(Server& server, const std::filesystem::path& results, Size laboratory = Size::quick);

}  // namespace limpid
