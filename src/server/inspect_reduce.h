#pragma once
// What a request says about matrices made smaller for an overview (inspect/reduce.h).

#include "inspect/reduce.h"
#include "server/inspect_call.h"

namespace limpid {

// "reduce": {"rows": 64, "columns": 64}; null: nothing is reduced; not there: as `otherwise` says.
Reduction read_reduction(InspectCall& call, const Reduction& otherwise);

}  // namespace limpid
