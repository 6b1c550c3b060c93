#include "server/experiments_routes.h"

#include <fmt/format.h>

#include "experiments/list.h"
#include "experiments/report.h"
#include "experiments/result.h"
#include "experiments/verdict.h"
#include "inspect/superposition.h"
#include "server/inspect_call.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

// The file is read anew each time: a run that goes on shows itself.
std::optional<Json> result_of(const fs::path& results, const Experiment& experiment, bool contrary) {
  return results.empty() ? std::nullopt : read_result(results, experiment, contrary);
}

Language language_of(const Request& request) {
  const auto found = request.query.find("language");
  const std::string language = found == request.query.end() ? "en" : found->second;
  if (language != "en" && language != "ko") throw HttpError(400, "\"language\" is en or ko.", {.param = "language"});
  return language == "ko" ? Language::korean : Language::english;
}

Json verdict_json(const std::optional<Json>& result, Language language) {
  if (!result) return nullptr;
  const Verdict verdict = judge(*result);
  return {{"name", name_of(verdict)},
          {"text", words_of(verdict).in(language)},
          {"provisional", result->at("size") != "full"}};
}

Json summary(const fs::path& results, const Experiment& experiment, Language language) {
  return {{"number", experiment.number},
          {"name", experiment.name},
          {"title", experiment.title.in(language)},
          {"claim", experiment.claim.in(language)},
          {"verdict", verdict_json(result_of(results, experiment, false), language)},
          {"contrary", verdict_json(result_of(results, experiment, true), language)}};
}

Json part_json(const Measure& measure, const Json& result, const std::optional<Json>& contrary, bool baseline,
               Language language) {
  const Json as_measure = measure_json(measure);
  const PartVerdict part = judge_part(result, as_measure);
  return {{"meaning", measure.meaning.in(language)},
          {"must", measure.must == Measure::Must::at_least ? "≥" : "≤"},
          {"threshold", measure.threshold},
          {"main", measure.main},
          {"baseline", baseline},
          {"mean", part.mean},
          {"least", part.least},
          {"most", part.most},
          {"passed", part.passed},
          {"seeds", part.seeds},
          {"contrary", contrary ? Json(judge_part(*contrary, as_measure).mean) : Json(nullptr)}};
}

Json details(const fs::path& results, const Experiment& experiment, Language language) {
  Json json = summary(results, experiment, language);
  const std::optional<Json> result = result_of(results, experiment, false),
                            contrary = result_of(results, experiment, true);
  json["origin"] = experiment.origin.in(language);
  json["method"] = experiment.method.in(language);
  json["reported"] = experiment.reported.in(language);
  json["contrary_text"] = experiment.contrary.in(language);
  json["command"] = fmt::format("limpid experiment {}", experiment.name);
  json["parts"] = json["tables"] = json["figures"] = Json::array();
  if (!result) return json;
  json["seconds"] = result->at("seconds");
  if (experiment.baseline) json["parts"].push_back(part_json(*experiment.baseline, *result, contrary, true, language));
  for (const Measure& part : experiment.parts)
    json["parts"].push_back(part_json(part, *result, contrary, false, language));
  if (experiment.tables)
    for (const Table& table : experiment.tables(*result, language))
      json["tables"].push_back({{"caption", table.caption}, {"columns", table.columns}, {"rows", table.rows}});
  if (experiment.figures)
    for (const Figure& figure : experiment.figures(*result, language))
      json["figures"].push_back({{"svg", figure_svg(figure)}, {"caption", figure.caption}});
  return json;
}

Json polygon(const Request& request) {
  JsonFields fields(request.body);
  SuperpositionOptions options;
  options.features = fields.whole("features", 5, 2, 12);
  options.densities = {fields.number("density", 0.001, 1).value_or(0.05)};
  options.importance = fields.number("importance", 0.1, 1).value_or(0.9);
  options.steps = fields.whole("steps", 2000, 1, 5000);
  options.seed = static_cast<uint64_t>(fields.whole("seed", 1, 0, int64_t{1} << 40));
  fields.finish();
  options.batch = 512;
  options.starts = 2;
  const SuperpositionModel model = train_superposition(options).at(0);
  return {{"density", model.density},
          {"loss", model.loss},
          {"represented", represented_features(model)},
          {"shape", superposition_shape(model)},
          {"angles", neighbour_angles(model)},
          {"share", feature_dimensionality(model)},
          {"weight", model.weight},
          {"bias", model.bias}};
}

}  // namespace

void add_experiments_routes(Server& server, const fs::path& results) {
  Router& router = server.router();
  router.add("GET", "/experiments",
             [results](const Request& request) {
               Json list = Json::array();
               for (const Experiment& experiment : experiments())
                 list.push_back(summary(results, experiment, language_of(request)));
               return Response{200, dumped({{"experiments", std::move(list)}, {"results", !results.empty()}})};
             },
             {.summary = "Claims about the Transformer and the verdicts on them: ?language=en or ko."});
  router.add("GET", "/experiments/{name}",
             [results](const Request& request) {
               const Experiment* experiment = find_experiment(request.parameter("name"));
               if (experiment == nullptr)
                 throw HttpError(404, fmt::format("There is no experiment \"{}\".", request.parameter("name")));
               return Response{200, dumped(details(results, *experiment, language_of(request)))};
             },
             {.summary = "One experiment: texts, numbers with their thresholds, tables and figures."});
  router.add(
      "POST", "/experiments/superposition/train",
      [](const Request& request) {
        return Response{200, dumped(polygon(request))};
      },
      {.summary = "Trains the toy model of superposition in two dimensions: features, density, seed.", .heavy = true});
}

}  // namespace limpid
