#pragma once
// A causal trace as JSON and as a picture, and what people leave unsaid when they ask for one.

#include <nlohmann/json_fwd.hpp>

#include "inspect/heatmap.h"
#include "inspect/trace.h"

namespace limpid {

// "Michael Jordan" as the positions of its tokens in a row, or "1..2" as it stands; of the side that is traced.
std::vector<int64_t> subject_positions(const Session& session, const Example& example, const std::string& side,
                                       const std::string& subject);

nlohmann::ordered_json trace_json(const Session& session, const Example& example, const Trace& trace,
                                  const TraceOptions& options);

// One map per kind of vector, layers upwards as in the model: what each brings back.
Picture trace_picture(const Session& session, const Example& example, const Trace& trace, const TraceOptions& options);

}  // namespace limpid
