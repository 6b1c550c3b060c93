#include "server/experiments_routes.h"

#include <fmt/format.h>

#include <chrono>

#include "experiments/list.h"
#include "experiments/report.h"
#include "experiments/result.h"
#include "experiments/verdict.h"
#include "inspect/superposition.h"
#include "server/inspect_call.h"
#include "server/laboratory.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

// The file is read anew each time: a run that goes on shows itself.
std::optional<Json> result_of(const fs::path& results, const Experiment& experiment, Arm arm) {
  return results.empty() ? std::nullopt : read_result(results, experiment, arm);
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
  return {
      {"name", name_of(verdict)}, {"text", words_of(verdict).in(language)}, {"provisional", is_provisional(*result)}};
}

Json summary(const fs::path& results, const Experiment& experiment, Language language) {
  return {{"number", experiment.number},
          {"name", experiment.name},
          {"title", experiment.title.in(language)},
          {"claim", experiment.claim.in(language)},
          {"verdict", verdict_json(result_of(results, experiment, Arm::claim), language)},
          {"contrary", verdict_json(result_of(results, experiment, Arm::contrary), language)}};
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
          {"mark", part.mark()},
          {"contrary", contrary ? Json(judge_part(*contrary, as_measure).mean) : Json(nullptr)},
          // What it means that this part failed.
          {"reason", part.seeds > 0 && !part.holds() ? Json(measure.otherwise.in(language)) : Json(nullptr)}};
}

Json details(const fs::path& results, const Experiment& experiment, Language language) {
  Json json = summary(results, experiment, language);
  const std::optional<Json> result = result_of(results, experiment, Arm::claim),
                            contrary = result_of(results, experiment, Arm::contrary);
  json["origin"] = experiment.origin.in(language);
  json["method"] = experiment.method.in(language);
  json["reported"] = experiment.reported.in(language);
  json["contrary_text"] = experiment.contrary.in(language);
  json["command"] = fmt::format("limpid experiment {}", experiment.name);
  json["parts"] = json["tables"] = json["figures"] = json["commands"] = Json::array();
  json["planted"] = nullptr;
  if (!result) return json;
  json["seconds"] = result->at("seconds");
  json["commands"] = commands_of(experiment, *result);
  if (const auto planted = result_of(results, experiment, Arm::planted)) {
    const PartVerdict main = judge_main_part(*planted);
    json["planted"] = {{"text", experiment.planted.in(language)},
                       {"mean", main.mean},
                       {"least", main.least},
                       {"most", main.most},
                       {"mark", main.mark()},
                       {"passed", main.passed},
                       {"seeds", main.seeds}};
  }
  if (experiment.baseline) json["parts"].push_back(part_json(*experiment.baseline, *result, contrary, true, language));
  for (const Measure& part : experiment.parts)
    json["parts"].push_back(part_json(part, *result, contrary, false, language));
  for (const Table& table : tables_of(experiment, *result, language))
    json["tables"].push_back({{"caption", table.caption}, {"columns", table.columns}, {"rows", table.rows}});
  for (const Figure& figure : figures_of(experiment, *result, language))
    json["figures"].push_back({{"svg", figure_svg(figure)}, {"caption", figure.caption}});
  return json;
}

Json polygon(const Request& request) {
  JsonFields fields(request);
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

// A study as a stream of events; what goes wrong on the way is one too. Progress is told ten times a second at most.
void answer_as_stream(const std::shared_ptr<Reply>& reply, const std::function<Json(const LaboratoryEvents&)>& study) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kEvery = std::chrono::milliseconds(100);
  Clock::time_point told = Clock::now() - kEvery;
  const auto write = [&](const char* event, const std::string& data) {
    return !reply->cancelled() && reply->write(event_text(data, event));
  };
  reply->begin(event_stream_head());
  try {
    const Json result = study([&](const char* event, const Json& data) {
      if (std::string_view(event) == "progress") {
        if (Clock::now() - told < kEvery) return !reply->cancelled();
        told = Clock::now();
      }
      return write(event, dumped(data));
    });
    write("result", dumped(result));
  } catch (const std::exception& error) {
    write("error", error_response(as_http_error(error), ErrorShape::openai).body);
  }
  reply->end();
}

}  // namespace

void add_experiments_routes(Server& server, const fs::path& results, Size size) {
  Router& router = server.router();
  router.add("GET", "/experiments",
             [results](const Request& request) {
               Json list = Json::array();
               for (const Experiment& experiment : experiments())
                 list.push_back(summary(results, experiment, language_of(request)));
               return Response{200, dumped({{"experiments", std::move(list)}, {"results", !results.empty()}})};
             },
             {.summary = "Claims about the Transformer and the verdicts on them.", .query = "language:string"});
  router.add("GET", "/experiments/{name}",
             [results](const Request& request) {
               const Experiment* experiment = find_experiment(request.parameter("name"));
               if (experiment == nullptr)
                 throw HttpError(404, fmt::format("There is no experiment \"{}\".", request.parameter("name")));
               return Response{200, dumped(details(results, *experiment, language_of(request)))};
             },
             {.summary = "One experiment: texts, numbers with their thresholds, tables and figures.",
              .query = "language:string"});
  const auto laboratory = std::make_shared<Laboratory>(size);
  const auto add_study = [&](const char* path, const char* summary, const char* fields_taken, auto study) {
    router.add("POST", path, Handler([laboratory, study](const Request& request, const std::shared_ptr<Reply>& reply) {
                 JsonFields fields(request);
                 answer_as_stream(reply,
                                  [&](const LaboratoryEvents& tell) { return study(*laboratory, fields, tell); });
               }),
               {.summary = summary, .fields = fields_taken, .gives = {"text/event-stream"}, .heavy = true});
  };
  add_study("/experiments/induction/train", "Trains attention to repeat, as a stream: events point, progress, result.",
            "steps:integer layers:integer heads:integer seed:integer",
            [](Laboratory&, JsonFields& fields, const LaboratoryEvents& tell) {
              return Laboratory::induction(fields, tell);
            });
  add_study("/experiments/facts/study", "Locates, silences and rewrites a fact, as a stream: events progress, result.",
            "fact:string to:string",
            [](Laboratory& one, JsonFields& fields, const LaboratoryEvents& tell) { return one.facts(fields, tell); });
  add_study(
      "/experiments/features/train",
      "Trains a sparse autoencoder and shows its features, as a stream: events progress, result.",
      "steps:integer k:integer expansion:integer count:integer",
      [](Laboratory& one, JsonFields& fields, const LaboratoryEvents& tell) { return one.features(fields, tell); });
  router.add("GET", "/experiments/facts/world",
             [](const Request&) {
               return Response{200, dumped(Laboratory::world())};
             },
             {.summary = "The facts that the laboratory's model is taught, and what each could be rewritten to."});
  router.add("POST", "/experiments/superposition/train",
             [](const Request& request) {
               return Response{200, dumped(polygon(request))};
             },
             {.summary = "Trains the toy model of superposition in two dimensions: features, density, seed.",
              .fields = "features:integer density:number importance:number steps:integer seed:integer",
              .heavy = true});
}

}  // namespace limpid
