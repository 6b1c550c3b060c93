#include "server/inspect_reduce.h"

#include <nlohmann/json.hpp>

namespace limpid {

Reduction read_reduction(InspectCall& call, const Reduction& otherwise) {
  const bool null = call.fields.any("reduce") == nullptr && call.fields.given("reduce");
  const nlohmann::json* given = call.fields.any("reduce");
  if (!given) return null ? Reduction{} : otherwise;
  JsonFields fields(*given);
  const Reduction reduction{.rows = fields.whole("rows", 0, 0, 1 << 20),
                            .columns = fields.whole("columns", 0, 0, 1 << 20)};
  fields.finish();
  return reduction;
}

}  // namespace limpid
