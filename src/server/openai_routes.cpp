#include "server/openai_routes.h"

#include "inference/model_text.h"

#include "server/chat_prompt.h"
#include "server/openai_answer.h"
#include "server/openai_json.h"

namespace limpid {
namespace {

using nlohmann::json;

OrderedJson model_object(const ServedModel& model) {
  return {{"id", model.id}, {"object", "model"}, {"created", model.created}, {"owned_by", "limpid"}};
}

struct OpenAiRoutes {
  Server& server;
  const ServedModels& models;
  const RequestLimits limits;
  Metrics* metrics;

  OpenAiContext context(const ServedModel& model, const Request& request, const std::shared_ptr<Reply>& reply) const {
    return {model, limits, metrics,
            [this, &request, reply](std::function<void()> work) { server.compute(request, reply, std::move(work)); }};
  }

  void completions(const Request& request, const std::shared_ptr<Reply>& reply) const {
    JsonFields fields(request);
    OpenAiCall call = read_call(fields);
    const ServedModel& model = models.find(call.model);
    call.logprobs = fields.whole("logprobs", 0, 100).value_or(-1);
    call.echo = fields.flag("echo");
    call.best_of = fields.whole("best_of", 1, 128).value_or(call.n);
    if (call.best_of < call.n) JsonFields::refuse("best_of", "\"best_of\" must be at least \"n\".");
    if (call.best_of > call.n && call.stream)
      JsonFields::refuse("best_of", "\"best_of\" chooses at the end: it does not go with \"stream\".");
    fields.unless("suffix", "");
    const json* prompt = fields.any("prompt");
    fields.finish();
    const json empty = "";
    call.prompts =
        read_texts(prompt ? *prompt : empty, "prompt", model, limits,
                   [](const LoadedModel& loaded, const std::string& text) { return input_ids(loaded, text); });
    if (call.echo && !model.config().continues_text())
      JsonFields::refuse("echo", "\"echo\" is for models that go on with a prompt: this one translates.");
    answer_call(context(model, request, reply), OpenAiStyle::text, std::move(call), request, reply);
  }

  void chat(const Request& request, const std::shared_ptr<Reply>& reply) const {
    JsonFields fields(request);
    OpenAiCall call = read_call(fields);
    const ServedModel& model = models.find(call.model);
    if (const auto most = fields.whole("max_completion_tokens", 1, int64_t{1} << 31)) {
      call.options.max_tokens = most;
      call.most_tokens_field = "max_completion_tokens";
    }
    if (call.options.max_tokens == 0) JsonFields::refuse("max_tokens", "\"max_tokens\" must be 1 or more.");
    const bool tells = fields.flag("logprobs");
    const auto top = fields.whole("top_logprobs", 0, 100);
    if (top && !tells) JsonFields::refuse("top_logprobs", "\"top_logprobs\" goes with \"logprobs\": true.");
    if (tells) call.logprobs = top.value_or(0);
    fields.unless("response_format", {{"type", "text"}});
    fields.unless("modalities", json::array({"text"}));
    fields.unless("tools", json::array());
    fields.unless("functions", json::array());
    for (const char* name : {"tool_choice", "function_call"}) {
      const json* choice = fields.any(name);
      if (choice && *choice != "auto") fields.unless(name, "none");  // without tools there is nothing to choose from
    }
    fields.ignore({"parallel_tool_calls"});
    model.writer();  // refuses a model that writes nothing
    const json& messages = fields.needed("messages");
    const json* extra = fields.any("chat_template_kwargs");
    fields.finish();
    call.prompts = {{chat_prompt(model, messages, extra, most_prompt_tokens(model, limits)), ""}};
    answer_call(context(model, request, reply), OpenAiStyle::chat, std::move(call), request, reply);
  }
};

constexpr const char* kSampling =
    "model:string temperature:number top_p:number top_k:integer min_p:number repetition_penalty:number "
    "presence_penalty:number frequency_penalty:number logit_bias:object n:integer stop:any seed:integer "
    "max_tokens:integer ignore_eos:boolean stream:boolean stream_options:object user:string store:boolean "
    "metadata:object service_tier:string safety_identifier:string prompt_cache_key:string ";
constexpr const char* kCompletion = "prompt:any best_of:integer echo:boolean logprobs:integer suffix:string";
constexpr const char* kChat =
    "messages:array! max_completion_tokens:integer logprobs:boolean top_logprobs:integer chat_template_kwargs:object "
    "response_format:object modalities:array tools:array functions:array tool_choice:any function_call:any "
    "parallel_tool_calls:boolean";

}  // namespace

void add_openai_routes(Server& server, const ServedModels& models, const RequestLimits& limits) {
  describe_token_metrics(server.metrics());
  describe_openai_metrics(server.metrics());
  Router& router = server.router();
  const auto routes = std::make_shared<const OpenAiRoutes>(OpenAiRoutes{server, models, limits, &server.metrics()});
  router.add("GET", "/v1/models",
             [&models](const Request&) {
               OrderedJson data = OrderedJson::array();
               for (const auto& model : models.all()) data.push_back(model_object(*model));
               return Response{200, dump_json({{"object", "list"}, {"data", data}})};
             },
             {.summary = "The models that are served."});
  router.add("GET", "/v1/models/{id}",
             [&models](const Request& request) {
               return Response{200, dump_json(model_object(models.find(request.parameter("id"))))};
             },
             {.summary = "One model."});
  router.add("POST", "/v1/completions", Handler([routes](const Request& request, const std::shared_ptr<Reply>& reply) {
               routes->completions(request, reply);
             }),
             {.summary = "Continues prompts.",
              .fields = std::string(kSampling) + kCompletion,
              .gives = {"application/json", "text/event-stream"}});
  router.add(
      "POST", "/v1/chat/completions",
      Handler([routes](const Request& request, const std::shared_ptr<Reply>& reply) { routes->chat(request, reply); }),
      {.summary = "Answers in a conversation, by the model's own chat template.",
       .fields = std::string(kSampling) + kChat,
       .gives = {"application/json", "text/event-stream"}});
  router.add("POST", "/v1/embeddings",
             [routes](const Request& request) {
               return answer_embeddings(routes->models, routes->limits, routes->metrics, request);
             },
             {.summary = "A vector per text.",
              .fields = "model:string input:any! encoding_format:string dimensions:integer user:string",
              .heavy = true});
}

}  // namespace limpid
