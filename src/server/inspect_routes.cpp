#include "server/inspect_routes.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "server/inspect_views.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr auto kProgressEvery = std::chrono::milliseconds(100);

// Nobody wants the answer any more.
struct Left {};

Response response_of(InspectCall::Answer answer) {
  return {200, std::move(answer.body), answer.tensors ? "application/octet-stream" : "application/json"};
}

InspectedModel inspected(const ServedModels& models, const nlohmann::json& body) {
  const auto named = body.is_object() ? body.find("model") : body.end();
  const ServedModel& model = models.find(named != body.end() && named->is_string() ? named->get<std::string>() : "");
  return {model.session, model.id, model.path.string(), model.inspected.get()};
}

// Progress and result as events; what goes wrong once the stream has begun is an event too.
void answer_as_stream(InspectCall& call, InspectView view, const std::shared_ptr<Reply>& reply) {
  reply->begin(event_stream_head());
  const auto tell = [&](const char* event, const std::string& data) {
    if (reply->cancelled() || !reply->write(event_text(data, event))) throw Left();
  };
  Clock::time_point told = Clock::now() - kProgressEvery;
  call.progress = [&](double done) {
    if (reply->cancelled()) throw Left();
    if (Clock::now() - told < kProgressEvery) return;
    told = Clock::now();
    tell("progress", dumped({{"done", done}}));
  };
  call.event = [&](const char* event, const Json& data) { tell(event, dumped(data)); };
  try {
    try {
      const InspectCall::Answer answer = view(call);
      if (answer.tensors) throw HttpError(400, "An answer of tensors is no stream: leave \"stream\" out.");
      tell("result", answer.body);
    } catch (const HttpError& error) {
      tell("error", error_response(error, ErrorShape::openai).body);
    } catch (const Error& error) {
      tell("error", error_response(HttpError(400, error.what()), ErrorShape::openai).body);
    }
  } catch (const Left&) {  // the client has gone, and with it whoever would read more
  }
  reply->end();
}

void answer(const ServedModels& models, const InspectLimits& limits, InspectView view, const nlohmann::json& body,
            const std::shared_ptr<Reply>& reply) {
  const InspectedModel model = inspected(models, body);
  InspectCall call(model, body, limits);
  if (call.fields.flag("stream")) return answer_as_stream(call, view, reply);
  call.progress = [&](double) {
    if (reply->cancelled()) throw Left();
  };
  try {
    reply->send(response_of(view(call)));
  } catch (const Left&) {
  }
}

}  // namespace

const std::vector<InspectRoute>& inspect_views() {
  static const std::vector<InspectRoute> routes = {
      {"model", view_model, "What a model is: sizes, parts in the order of the forward pass, parameter counts.", true},
      {"taps", view_taps, "The names under which values can be seen.", true},
      {"parameters", view_parameters, "Where the parameters are: by part, and every weight.", true},
      {"tokens", view_tokens, "A text as the model reads it: ids, pieces, bytes, both sides of a translation."},
      {"pieces", view_pieces, "Tokens by their ids."},
      {"embedding", view_embedding, "Neighbours, similarities or a map of words."},
      {"positions", view_positions, "Position vectors, or the angles of rotary positions."},
      {"capture", view_capture, "Values of taps, whole, cut or reduced, as safetensors."},
      {"norms", view_norms, "How long the vectors are that every sub-layer writes."},
      {"heads", view_heads, "Thumbnails of all attention heads."},
      {"attention", view_attention, "One attention head step by step: q, k, scores, mask, pattern, v, z, output."},
      {"head-statistics", view_head_statistics, "Entropy, distance, previous-token and induction score of every head."},
      {"alignment", view_alignment, "Which source word each target word looks at."},
      {"neurons", view_neurons, "The neurons that fired at a position, and what each wrote."},
      {"neuron", view_neuron, "One neuron: what it asks, what it answers, the texts that fire it."},
      {"lens", view_lens, "Logit lens: what the model would say after each layer."},
      {"attribution", view_attribution, "A logit as the sum of what every part adds to it."},
      {"trace", view_trace, "Causal tracing: which vectors bring an answer back."},
      {"gradient", view_gradient, "How an output changes with every number at a tap."},
      {"output", view_output, "The distribution of the next token, plain and as sampling options leave it."},
      {"generate", view_generate, "Writing step by step, with the likeliest tokens of every step."},
      {"beam", view_beam, "Beam search as a tree with its scores."},
      {"intervene", view_intervene, "What interventions change: logits, probabilities, divergence, texts."},
      {"interventions", view_interventions, "Checks interventions and gives them as TOML."},
      {"weight", view_weight, "One weight: reduced or whole, with a histogram."},
  };
  return routes;
}

void add_inspect_routes(Server& server, const ServedModels& models, const InspectLimits& limits) {
  for (const InspectRoute& route : inspect_views()) {
    const std::string path = std::string("/inspect/") + route.name;
    const InspectView view = route.view;
    server.router().add("POST", path,
                        Handler([&models, limits, view](const Request& request, const std::shared_ptr<Reply>& reply) {
                          answer(models, limits, view, parse_body(request.body), reply);
                        }),
                        {.summary = route.summary, .heavy = true});
    if (!route.get) continue;
    server.router().add("GET", path,
                        Handler([&models, limits, view](const Request& request, const std::shared_ptr<Reply>& reply) {
                          const auto model = request.query.find("model");
                          nlohmann::json body = nlohmann::json::object();
                          if (model != request.query.end()) body["model"] = model->second;
                          answer(models, limits, view, body, reply);
                        }),
                        {.summary = route.summary, .heavy = true});
  }
}

}  // namespace limpid
