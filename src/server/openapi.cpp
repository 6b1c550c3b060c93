#include <nlohmann/json.hpp>

#include "server/server.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;

ordered_json path_parameters(const std::string& pattern) {
  ordered_json parameters = ordered_json::array();
  for (size_t begin = pattern.find('{'); begin != std::string::npos; begin = pattern.find('{', begin + 1)) {
    const std::string name = pattern.substr(begin + 1, pattern.find('}', begin) - begin - 1);
    parameters.push_back({{"name", name}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}});
  }
  return parameters;
}

}  // namespace

std::string openapi_document(const std::vector<Route>& routes) {
  ordered_json paths = ordered_json::object();
  for (const Route& route : routes) {
    if (route.options.summary.empty()) continue;
    ordered_json operation = {{"summary", route.options.summary}};
    if (ordered_json parameters = path_parameters(route.pattern); !parameters.empty())
      operation["parameters"] = std::move(parameters);
    if (!route.options.operation.empty()) operation.update(ordered_json::parse(route.options.operation), true);
    if (!operation.contains("responses")) operation["responses"] = {{"200", {{"description", "The answer."}}}};
    if (!route.options.needs_key) operation["security"] = ordered_json::array();
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    paths[route.pattern][method] = std::move(operation);
  }
  const ordered_json document = {
      {"openapi", "3.0.3"},
      {"info", {{"title", "Limpid"}, {"version", "1"}}},
      {"components", {{"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}}},
      {"security", {{{"key", ordered_json::array()}}}},
      {"paths", std::move(paths)},
  };
  return document.dump(2) + "\n";
}

}  // namespace limpid
