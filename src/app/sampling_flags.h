#pragma once
// The options of the command line that say how a token is drawn, the same for every command that draws.

#include "app/command.h"
#include "inference/sampling.h"

namespace limpid {

void add_sampling_flags(CommandLine& line, SamplingOptions& options);

}  // namespace limpid
