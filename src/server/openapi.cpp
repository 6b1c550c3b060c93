#include <nlohmann/json.hpp>

#include "server/json_fields.h"
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

ordered_json schema_of(std::string_view type) {
  if (type == "any") return ordered_json::object();
  const bool list = type == "strings" || type == "integers";
  if (!list) return {{"type", type}};
  const ordered_json one = {{"type", type.substr(0, type.size() - 1)}};
  return {{"oneOf", {one, {{"type", "array"}, {"items", one}}}}};
}

ordered_json body_of(const Route& route) {
  ordered_json required = ordered_json::array(), properties = ordered_json::object();
  for (const DeclaredField& field : declared_fields(route.options.fields)) {
    properties[std::string(field.name)] = schema_of(field.type);
    if (field.required) required.push_back(field.name);
  }
  ordered_json schema = {{"type", "object"}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["properties"] = std::move(properties);
  ordered_json content;
  content["application/json"]["schema"] = schema;
  if (route.options.errors == ErrorShape::plain) content["application/x-www-form-urlencoded"]["schema"] = schema;
  return {{"required", true}, {"content", std::move(content)}};
}

ordered_json query_parameters(const Route& route) {
  ordered_json parameters = ordered_json::array();
  for (const DeclaredField& field : declared_fields(route.options.query))
    parameters.push_back(
        {{"name", field.name}, {"in", "query"}, {"required", field.required}, {"schema", schema_of(field.type)}});
  return parameters;
}

ordered_json responses_of(const Route& route) {
  ordered_json content = ordered_json::object();
  for (const std::string& type : route.options.gives) {
    const bool json = type == "application/json";
    content[type]["schema"] = json ? ordered_json::object() : ordered_json{{"type", "string"}};
    if (type == "application/octet-stream") content[type]["schema"]["format"] = "binary";
  }
  const char* errors = route.options.errors == ErrorShape::plain ? "PlainError" : "Error";
  const auto error = [&](const char* description) -> ordered_json {
    const std::string schema = std::string("#/components/schemas/") + errors;
    return {{"description", description}, {"content", {{"application/json", {{"schema", {{"$ref", schema}}}}}}}};
  };
  return {{"200", {{"description", "The answer."}, {"content", std::move(content)}}},
          {"4XX", error("The request is refused; the message says why and names the field.")},
          {"5XX", error("The server cannot answer now (503), or failed.")}};
}

ordered_json error_schemas() {
  const ordered_json text = {{"type", "string"}}, text_or_null = {{"type", "string"}, {"nullable", true}};
  const ordered_json details = {
      {"type", "object"},
      {"properties", {{"message", text}, {"type", text}, {"param", text_or_null}, {"code", text_or_null}}}};
  return {{"Error", {{"type", "object"}, {"properties", {{"error", details}}}}},
          {"PlainError", {{"type", "object"}, {"properties", {{"error", text}}}}}};
}

}  // namespace

std::string openapi_document(const std::vector<Route>& routes) {
  ordered_json paths = ordered_json::object();
  for (const Route& route : routes) {
    if (route.options.summary.empty()) continue;
    ordered_json operation = {{"summary", route.options.summary}};
    ordered_json parameters = path_parameters(route.pattern);
    for (ordered_json& parameter : query_parameters(route)) parameters.push_back(std::move(parameter));
    if (!parameters.empty()) operation["parameters"] = std::move(parameters);
    if (!route.options.fields.empty()) operation["requestBody"] = body_of(route);
    operation["responses"] = responses_of(route);
    if (!route.options.needs_key) operation["security"] = ordered_json::array();
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    paths[route.pattern][method] = std::move(operation);
  }
  const ordered_json document = {
      {"openapi", "3.0.3"},
      {"info", {{"title", "Limpid"}, {"version", "1"}}},
      {"components",
       {{"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}, {"schemas", error_schemas()}}},
      {"security", {{{"key", ordered_json::array()}}}},
      {"paths", std::move(paths)},
  };
  return document.dump(2) + "\n";
}

}  // namespace limpid
