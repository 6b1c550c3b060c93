#include "server/inspect_routes.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/cancellation.h"
#include "server/inspect_views.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr auto kProgressEvery = std::chrono::milliseconds(100);

Response response_of(InspectCall::Answer answer) {
  return {200, std::move(answer.body), answer.tensors ? "application/octet-stream" : "application/json"};
}

InspectedModel inspected(const ServedModels& models, const nlohmann::json& body) {
  const auto named = body.is_object() ? body.find("model") : body.end();
  const ServedModel& model = models.find(named != body.end() && named->is_string() ? named->get<std::string>() : "");
  return {model.session, model.id, model.path.string(), model.inspected.get()};
}

// Fields of every request.
constexpr const char* kOfAll =
    "model:string text:string target:string ids:integers target_ids:integers open:boolean interventions:any "
    "stream:boolean ";

// Progress and result as events; what goes wrong once the stream has begun is an event too.
void answer_as_stream(InspectCall& call, InspectView view, const std::shared_ptr<Reply>& reply) {
  reply->begin(event_stream_head());
  const auto tell = [&](const char* event, const std::string& data) { reply->write(event_text(data, event)); };
  Clock::time_point told = Clock::now() - kProgressEvery;
  call.progress = [&](double done) {
    check_cancelled();
    if (Clock::now() - told < kProgressEvery) return;
    told = Clock::now();
    tell("progress", dumped({{"done", done}}));
  };
  call.event = [&](const char* event, const Json& data) { tell(event, dumped(data)); };
  try {
    tell("result", view(call).body);
  } catch (const std::exception& error) {
    tell("error", error_response(as_http_error(error), ErrorShape::openai).body);
  }
  reply->end();
}

void answer(const ServedModels& models, const InspectLimits& limits, InspectView view, const nlohmann::json& body,
            const std::shared_ptr<Reply>& reply) {
  const InspectedModel model = inspected(models, body);
  InspectCall call(model, body, limits);
  if (call.fields.flag("stream")) return answer_as_stream(call, view, reply);
  reply->send(response_of(view(call)));
}

}  // namespace

const std::vector<InspectRoute>& inspect_views() {
  static const std::vector<InspectRoute> routes = {
      {.name = "model",
       .view = view_model,
       .summary = "What a model is: sizes, parts in the order of the forward pass, parameter counts.",
       .get = true},
      {.name = "taps", .view = view_taps, .summary = "The names under which values can be seen.", .get = true},
      {.name = "parameters",
       .view = view_parameters,
       .summary = "Where the parameters are: by part, and every weight.",
       .get = true},
      {.name = "tokens",
       .view = view_tokens,
       .summary = "A text as the model reads it: ids, pieces, bytes, both sides of a translation."},
      {.name = "pieces",
       .view = view_pieces,
       .summary = "Tokens by their ids.",
       .fields = "side:string tokens:integers"},
      {.name = "embedding",
       .view = view_embedding,
       .summary = "Neighbours, similarities or a map of words.",
       .fields = "side:string words:strings! similarity:string view:string top:integer neighbours_of_each:integer"},
      {.name = "positions",
       .view = view_positions,
       .summary = "Position vectors, or the angles of rotary positions.",
       .fields = "side:string from:integer count:integer",
       .tensors = true},
      {.name = "capture",
       .view = view_capture,
       .summary = "Values of taps, whole, cut or reduced, as safetensors.",
       .fields = "taps:strings! layers:integers positions:integers heads:integers columns:integers keys:integers "
                 "reduce:object",
       .tensors = true},
      {.name = "norms",
       .view = view_norms,
       .summary = "How long the vectors are that every sub-layer writes.",
       .tensors = true},
      {.name = "heads",
       .view = view_heads,
       .summary = "Thumbnails of all attention heads.",
       .fields = "attention:string size:integer",
       .tensors = true},
      {.name = "attention",
       .view = view_attention,
       .summary = "One attention head step by step: q, k, scores, mask, pattern, v, z, output.",
       .fields = "attention:string! head:integer",
       .tensors = true},
      {.name = "head-statistics",
       .view = view_head_statistics,
       .summary = "Entropy, distance, previous-token and induction score of every head.",
       .fields = "induction:boolean texts:array corpus:boolean most:integer"},
      {.name = "alignment",
       .view = view_alignment,
       .summary = "Which source word each target word looks at.",
       .fields = "layer:integer head:integer"},
      {.name = "neurons",
       .view = view_neurons,
       .summary = "The neurons that fired at a position, and what each wrote.",
       .fields = "side:string block:integer position:integer top:integer"},
      {.name = "neuron",
       .view = view_neuron,
       .summary = "One neuron: what it asks, what it answers, the texts that fire it.",
       .fields = "side:string block:integer neuron:integer top:integer texts:array corpus:boolean most:integer"},
      {.name = "lens",
       .view = view_lens,
       .summary = "Logit lens: what the model would say after each layer.",
       .fields = "top:integer token:string positions:integers"},
      {.name = "attribution",
       .view = view_attribution,
       .summary = "A logit as the sum of what every part adds to it.",
       .fields = "position:integer token:string against:string neurons:boolean"},
      {.name = "trace",
       .view = view_trace,
       .summary = "Causal tracing: which vectors bring an answer back.",
       .fields = "side:string noise:number samples:integer seed:integer position:integer window:integer subject:string "
                 "other:string other_target:string answer:string"},
      {.name = "gradient",
       .view = view_gradient,
       .summary = "How an output changes with every number at a tap.",
       .fields = "taps:strings! of:string token:string against:string position:integer top:integer tensors:boolean",
       .tensors = true},
      {.name = "output",
       .view = view_output,
       .summary = "The distribution of the next token, plain and as sampling options leave it.",
       .fields =
           "temperature:number top_k:integer top_p:number min_p:number top:integer position:integer tokens:strings"},
      {.name = "generate",
       .view = view_generate,
       .summary = "Writing step by step, with the likeliest tokens of every step.",
       .fields =
           "temperature:number top_k:integer top_p:number min_p:number max_tokens:integer top:integer seed:integer"},
      {.name = "beam",
       .view = view_beam,
       .summary = "Beam search as a tree with its scores.",
       .fields = "beam:integer length_penalty:number max_tokens:integer"},
      {.name = "intervene",
       .view = view_intervene,
       .summary = "What interventions change: logits, probabilities, divergence, texts.",
       .fields = "position:integer generate:integer top:integer everywhere:boolean tokens:strings"},
      {.name = "interventions", .view = view_interventions, .summary = "Checks interventions and gives them as TOML."},
      {.name = "weight",
       .view = view_weight,
       .summary = "One weight: reduced or whole, with a histogram.",
       .fields = "name:string! rows:integers columns:integers reduce:object histogram:integer",
       .tensors = true},
  };
  return routes;
}

void add_inspect_routes(Server& server, const ServedModels& models, const InspectLimits& limits) {
  for (const InspectRoute& route : inspect_views()) {
    const std::string path = std::string("/inspect/") + route.name;
    const InspectView view = route.view;
    std::vector<std::string> gives = {"application/json", "text/event-stream"};
    if (route.tensors) gives.emplace_back("application/octet-stream");
    server.router().add(
        "POST", path, Handler([&models, limits, view](const Request& request, const std::shared_ptr<Reply>& reply) {
          answer(models, limits, view, parse_body(request), reply);
        }),
        {.summary = route.summary, .fields = std::string(kOfAll) + route.fields, .gives = gives, .heavy = true});
    if (!route.get) continue;
    server.router().add("GET", path,
                        Handler([&models, limits, view](const Request& request, const std::shared_ptr<Reply>& reply) {
                          const auto model = request.query.find("model");
                          nlohmann::json body = nlohmann::json::object();
                          if (model != request.query.end()) body["model"] = model->second;
                          answer(models, limits, view, body, reply);
                        }),
                        {.summary = route.summary, .query = "model:string", .gives = gives, .heavy = true});
  }
}

}  // namespace limpid
