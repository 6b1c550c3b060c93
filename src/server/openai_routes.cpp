#include "server/openai_routes.h"

#include <nlohmann/json.hpp>

namespace limpid {
namespace {

using nlohmann::ordered_json;

ordered_json model_object(const ServedModel& model) {
  return {{"id", model.id}, {"object", "model"}, {"created", model.created}, {"owned_by", "limpid"}};
}

}  // namespace

void add_openai_routes(Server& server, const ServedModels& models) {
  server.router().add(
      "GET", "/v1/models",
      [&models](const Request&) {
        ordered_json data = ordered_json::array();
        for (const auto& model : models.all()) data.push_back(model_object(*model));
        return Response{200, ordered_json{{"object", "list"}, {"data", data}}.dump()};
      },
      {.summary = "The models that are served."});
  server.router().add(
      "GET", "/v1/models/{id}",
      [&models](const Request& request) {
        return Response{200, model_object(models.find(request.parameter("id"))).dump()};
      },
      {.summary = "One model."});
}

}  // namespace limpid
