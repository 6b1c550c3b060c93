// Models over sockets: saved, opened again and asked by many clients at once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "formats/model_folder.h"
#include "models/small_models.h"
#include "server/http_client.h"
#include "server/libretranslate_routes.h"
#include "server/openai_routes.h"
#include "text/tokenizer_training.h"

namespace limpid {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

class Serving : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    write("writer", "gpt2", "gpt2", {{"n_positions", 256}});
    write("talker", "gpt2", "gpt2", {{"n_positions", 256}});
    write_text(folder_->path() / "talker/chat_template.jinja",
               "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools') }}{% endif %}"
               "{{ m.content }}{{ mark }}{% endfor %}");
    write("mute", "gpt2", "gpt2", {});
    write_text(folder_->path() / "mute/chat_template.jinja", "{% if");
    write("copier-en-ko", "pegasus", "pegasus", {});
    write("reader", "bert", "bert", {});
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static void write(const std::string& name, const std::string& config, const std::string& type, const json& changes) {
    const EachLine lines = [](const std::function<void(std::string_view)>& line) {
      line("the quick brown fox jumps over the lazy dog.");
      line("THE QUICK <b>");
    };
    const Tokenizers tokenizers = train_tokenizers({.kind = TokenizerKind::characters}, lines, lines);
    nlohmann::ordered_json file = small_configs().at(config);
    if (changes.is_object()) file.merge_patch(changes);
    file["vocab_size"] = tokenizers.target->size();
    const SpecialIds special = tokenizers.target->special();
    if (special.pad >= 0) file["pad_token_id"] = special.pad;
    if (special.end >= 0) file["eos_token_id"] = special.end;
    if (special.begin >= 0) file["bos_token_id"] = special.begin;
    const SmallModel small = small_model(file);
    make_folder(folder_->path() / name);
    write_model(folder_->path() / name, small.model->config(), *small.parameters);
    save_tokenizers(folder_->path() / name, type, tokenizers);
  }

  void SetUp() override { start({}, {}); }
  void TearDown() override { stop(); }
  void start(const EngineServiceOptions& engine, const RequestLimits& limits, const std::string& key = "") {
    stop();
    server_ = std::make_unique<Server>(ServerOptions{.port = 0, .access = {.key = key}});
    models_ = std::make_unique<ServedModels>();
    describe_engine_metrics(server_->metrics());
    add_openai_routes(*server_, *models_, limits);
    add_libretranslate_routes(*server_, *models_, {}, limits);
    server_->start();
    for (const char* name : {"writer", "talker", "mute", "copier-en-ko"})
      models_->load((folder_->path() / name).string(), engine, &server_->metrics());
    server_->set_ready();
  }
  void stop() {
    if (server_) server_->stop(1s);
    models_.reset();
    server_.reset();
  }

  HttpAnswer post(const std::string& path, const json& body) const {
    return ask(server_->port(), "POST", path, body.dump(), "Content-Type: application/json\r\n");
  }
  json completion(const json& changes) const {
    json body = {
        {"model", "writer"}, {"prompt", "the quick "}, {"max_tokens", 12}, {"temperature", 0}, {"ignore_eos", true}};
    if (changes.is_object()) body.merge_patch(changes);  // {} is null to JSON
    const HttpAnswer answer = post("/v1/completions", body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body);
  }
  int status(const json& changes) const {
    json body = {{"model", "writer"}, {"prompt", "the quick "}, {"max_tokens", 4}};
    if (changes.is_object()) body.merge_patch(changes);
    return post("/v1/completions", body).status;
  }

  static std::unique_ptr<TemporaryFolder> folder_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<ServedModels> models_;
};
std::unique_ptr<TemporaryFolder> Serving::folder_;

TEST_F(Serving, CompletesAndCounts) {
  const json answer = completion({{"logprobs", 2}, {"n", 2}});
  EXPECT_EQ(answer["object"], "text_completion");
  ASSERT_EQ(answer["choices"].size(), 2);
  EXPECT_EQ(answer["choices"][0]["text"], answer["choices"][1]["text"]) << "greedy";
  const json& logprobs = answer["choices"][0]["logprobs"];
  EXPECT_EQ(logprobs["tokens"].size(), logprobs["token_logprobs"].size());
  EXPECT_EQ(logprobs["top_logprobs"][0].size(), 2);
  const json& usage = answer["usage"];
  EXPECT_EQ(usage["total_tokens"], usage["prompt_tokens"].get<int>() + usage["completion_tokens"].get<int>());
  EXPECT_GE(usage["prompt_tokens"], 10);
}

TEST_F(Serving, EchoScoresThePrompt) {
  const json answer = completion({{"echo", true}, {"logprobs", 1}, {"max_tokens", 0}});
  const json& choice = answer["choices"][0];
  EXPECT_EQ(choice["text"], "the quick ");
  EXPECT_TRUE(choice["logprobs"]["token_logprobs"][0].is_null());
  EXPECT_LT(choice["logprobs"]["token_logprobs"][1], 0);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 0);
  // Every token stands in the text where its offset says; those that do not stand in it take no room.
  const std::string text = choice["text"];
  const json& tokens = choice["logprobs"]["tokens"];
  size_t next = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const size_t at = choice["logprobs"]["text_offset"][i];
    EXPECT_EQ(at, next) << i;
    if (text.compare(at, tokens[i].get_ref<const std::string&>().size(), tokens[i]) == 0)
      next = at + tokens[i].get_ref<const std::string&>().size();
  }
  EXPECT_EQ(next, text.size());
}

TEST_F(Serving, StreamsTheSameText) {
  const json whole = completion({{"seed", 5}, {"temperature", 1}});
  const json body = {
      {"model", "writer"}, {"prompt", "the quick "}, {"max_tokens", 12}, {"seed", 5},
      {"temperature", 1},  {"ignore_eos", true},     {"stream", true},   {"stream_options", {{"include_usage", true}}}};
  const std::string stream = post("/v1/completions", body).body;
  EXPECT_THAT(stream, HasSubstr("data: [DONE]"));
  std::string text, reason;
  bool usage = false;
  for (size_t at = stream.find("data: {"); at != std::string::npos; at = stream.find("data: {", at + 1)) {
    const json chunk = json::parse(stream.substr(at + 6, stream.find("\n\n", at) - at - 6));
    if (chunk["choices"].empty()) {
      EXPECT_EQ(chunk["usage"], whole["usage"]);
      usage = true;
      continue;
    }
    text += chunk["choices"][0]["text"].get<std::string>();
    if (chunk["choices"][0]["finish_reason"].is_string()) reason = chunk["choices"][0]["finish_reason"];
  }
  EXPECT_EQ(text, whole["choices"][0]["text"]);
  EXPECT_EQ(reason, whole["choices"][0]["finish_reason"]);
  EXPECT_TRUE(usage);
}

TEST_F(Serving, ManyClientsGetWhatOneAloneGets) {
  std::vector<json> requests;
  for (int i = 0; i < 64; ++i)
    requests.push_back({{"prompt", std::string("the quick brown fox jumps").substr(0, static_cast<size_t>(1 + i % 25))},
                        {"temperature", i % 2},
                        {"seed", i},
                        {"logprobs", 1},
                        {"max_tokens", 5 + i % 20}});
  std::vector<json> alone;
  for (const json& request : requests) alone.push_back(completion(request)["choices"]);
  std::vector<std::future<json>> together;
  for (const json& request : requests)
    together.push_back(std::async(std::launch::async, [&, request] { return completion(request)["choices"]; }));
  for (size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(together[i].get(), alone[i]) << requests[i];
}

TEST_F(Serving, RefusesWhatItCannotDo) {
  EXPECT_EQ(status({{"temprature", 1}}), 400);
  EXPECT_EQ(status({{"temperature", "hot"}}), 400);
  EXPECT_EQ(status({{"temperature", -1}}), 400);
  EXPECT_EQ(status({{"n", 0}}), 400);
  EXPECT_EQ(status({{"n", 2}, {"best_of", 1}}), 400);
  EXPECT_EQ(status({{"suffix", "end"}}), 400);
  EXPECT_EQ(status({{"logit_bias", {{"x", 1}}}}), 400);
  EXPECT_EQ(status({{"logit_bias", {{"999999", 1}}}}), 400);
  EXPECT_EQ(status({{"prompt", json::array({1, 999999})}}), 400);
  EXPECT_EQ(status({{"prompt", std::string(5000, 'a')}}), 400);
  EXPECT_EQ(status({{"model", "none"}}), 404);
  EXPECT_EQ(status({{"user", "me"}, {"store", false}}), 200);
  EXPECT_EQ(post("/v1/completions", json::array()).status, 400);
  for (const char* body : {"", "{", "{\"model\": 1, \"model\": 1}"}) {
    const HttpAnswer answer = ask(server_->port(), "POST", "/v1/completions", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_THAT(answer.body, testing::Not(testing::ContainsRegex("file|download"))) << answer.body;
  }
  const json many(100, 1);
  start({}, {.prompt_tokens = 20, .output_tokens = 9});
  const auto param = [&](const std::string& path, const json& body) {
    const HttpAnswer answer = post(path, body);
    EXPECT_EQ(answer.status, 400) << path;
    return json::parse(answer.body)["error"]["param"];
  };
  const json talk = {{{"role", "user"}, {"content", std::string(30, 'a')}}};
  EXPECT_EQ(param("/v1/completions", {{"model", "writer"}, {"prompt", many}}), "prompt");
  EXPECT_EQ(param("/v1/embeddings", {{"model", "writer"}, {"input", many}}), "input");
  EXPECT_EQ(param("/v1/chat/completions", {{"model", "talker"}, {"messages", talk}}), "messages");
  const json short_talk = {{{"role", "user"}, {"content", "a"}}};
  EXPECT_EQ(
      param("/v1/chat/completions", {{"model", "talker"}, {"messages", short_talk}, {"max_completion_tokens", 10}}),
      "max_completion_tokens");
  const HttpAnswer misspelt = post("/v1/completions", {{"model", "writer"}, {"prompt", "a"}, {"temprature", 1}});
  EXPECT_THAT(misspelt.body, HasSubstr("did you mean temperature?"));
  EXPECT_THAT(misspelt.body, HasSubstr(R"("param":"temprature")"));
  const HttpAnswer chat =
      post("/v1/chat/completions", {{"model", "writer"}, {"messages", {{{"role", "user"}, {"content", "hi"}}}}});
  EXPECT_EQ(chat.status, 400);
  EXPECT_THAT(chat.body, HasSubstr("chat template"));
}

TEST_F(Serving, TalksByTheTemplateOfTheModel) {
  json body = {{"model", "talker"}, {"max_tokens", 9}, {"temperature", 0}, {"ignore_eos", true}};
  const auto answer = [&](const std::string& model, const json& messages, const json& changes = json::object()) {
    json changed = body;
    changed["model"] = model;
    changed["messages"] = messages;
    if (changes.is_object()) changed.merge_patch(changes);
    return post("/v1/chat/completions", changed);
  };
  const json talk = {{{"role", "system"}, {"content", "the quick "}},
                     {{"role", "user"}, {"content", {{{"type", "text"}, {"text", "brown"}}}}}};
  const HttpAnswer plain = answer("talker", talk);
  ASSERT_EQ(plain.status, 200) << plain.body;
  const json said = json::parse(plain.body);
  EXPECT_EQ(said["object"], "chat.completion");
  EXPECT_EQ(said["choices"][0]["message"]["role"], "assistant");
  // The same as the text that the template makes.
  json prompt = body;
  prompt["prompt"] = "the quick brown";
  const HttpAnswer written = post("/v1/completions", prompt);
  ASSERT_EQ(written.status, 200) << written.body;
  EXPECT_EQ(said["choices"][0]["message"]["content"], json::parse(written.body)["choices"][0]["text"]);
  const HttpAnswer marked = answer("talker", talk, {{"chat_template_kwargs", {{"mark", "the lazy"}}}});
  ASSERT_EQ(marked.status, 200) << marked.body;
  EXPECT_EQ(json::parse(marked.body)["usage"]["prompt_tokens"], said["usage"]["prompt_tokens"].get<int>() + 16);
  const HttpAnswer refused = answer("talker", {{{"role", "tool"}, {"content", "a"}}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("no tools"));
  EXPECT_EQ(answer("talker", talk, {{"chat_template_kwargs", 1}}).status, 400);
  const HttpAnswer mute = answer("mute", talk);
  EXPECT_EQ(mute.status, 400);
  EXPECT_THAT(mute.body, HasSubstr("line 1"));
}

TEST_F(Serving, StopsBiasesAndChooses) {
  const std::string text = completion({})["choices"][0]["text"];
  ASSERT_GE(text.size(), 3u);
  const std::string stop(1, text[2]);
  const json stopped = completion({{"stop", stop}})["choices"][0];
  EXPECT_EQ(stopped["text"], text.substr(0, text.find(stop)));
  EXPECT_EQ(stopped["finish_reason"], "stop");
  const json best = completion({{"best_of", 4}, {"temperature", 1}, {"seed", 3}});
  EXPECT_EQ(best["choices"].size(), 1);
  EXPECT_GT(best["usage"]["completion_tokens"], 12);
}

TEST_F(Serving, BoundsTheQueue) {
  start({.engine = {.max_batch = 1}, .waiting = 1}, {});
  const json slow = {{"model", "writer"}, {"prompt", "the"}, {"max_tokens", 200}, {"logit_bias", json::object()}};
  std::vector<std::future<HttpAnswer>> answers;
  for (int i = 0; i < 16; ++i)
    answers.push_back(std::async(std::launch::async, [&] { return post("/v1/completions", slow); }));
  int refused = 0, answered = 0;
  for (auto& answer : answers) {
    const HttpAnswer got = answer.get();
    refused += got.status == 429 ? 1 : 0;
    answered += got.status == 200 ? 1 : 0;
    if (got.status == 429) {
      EXPECT_THAT(got.head, HasSubstr("Retry-After: "));
    }
  }
  EXPECT_EQ(refused + answered, 16);
  EXPECT_GE(answered, 1);
  EXPECT_EQ(status({{"n", 2}}), 400) << "two never wait where one may";
}

TEST_F(Serving, AClientThatLeavesFreesItsPlace) {
  start({.engine = {.max_batch = 4,
                    .now =
                        [] {
                          std::this_thread::sleep_for(5ms);  // a step takes its time
                          return Engine::Clock::now();
                        }}},
        {});
  {
    HttpClient client(server_->port());
    const json body = {{"model", "writer"}, {"prompt", "the"}, {"max_tokens", 250},
                       {"stream", true},    {"n", 3},          {"ignore_eos", true}};
    client.send(request_text("POST", "/v1/completions", body.dump()));
    client.receive_until("data: ");
    for (int i = 0; i < 500 && models_->find("writer").engine->running() < 3; ++i) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(models_->find("writer").engine->running(), 3);
  }
  for (int i = 0; i < 500 && models_->find("writer").engine->running() > 0; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(models_->find("writer").engine->running(), 0);
}

TEST_F(Serving, EmbedsInBothFormats) {
  models_->load("reader=" + (folder_->path() / "reader").string(), {});
  const HttpAnswer answer = post("/v1/embeddings", {{"model", "reader"}, {"input", {"the fox", "the dog"}}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json plain = json::parse(answer.body);
  ASSERT_EQ(plain["data"].size(), 2);
  EXPECT_EQ(plain["data"][0]["embedding"].size(), 12);
  const json packed = json::parse(
      post("/v1/embeddings", {{"model", "reader"}, {"input", "the fox"}, {"encoding_format", "base64"}}).body);
  EXPECT_EQ(packed["data"][0]["embedding"].get<std::string>().size(), 64) << "12 numbers of 4 bytes";
  const json shorter =
      json::parse(post("/v1/embeddings", {{"model", "reader"}, {"input", "a"}, {"dimensions", 5}}).body);
  EXPECT_EQ(shorter["data"][0]["embedding"].size(), 5);
  EXPECT_EQ(post("/v1/completions", {{"model", "reader"}, {"prompt", "the"}}).status, 400);
}

TEST_F(Serving, TranslatesAsLibreTranslateDoes) {
  const HttpAnswer languages = ask(server_->port(), "GET", "/languages");
  EXPECT_THAT(languages.body, HasSubstr(R"({"code":"en","name":"English","targets":["ko"]})"));
  const json one = json::parse(post("/translate", {{"q", "the fox"}, {"source", "en"}, {"target", "ko"}}).body);
  EXPECT_TRUE(one["translatedText"].is_string()) << one;
  const std::string counted = ask(server_->port(), "GET", "/metrics").body;
  for (const char* name : {"limpid_prompt_tokens_total", "limpid_completion_tokens_total"})
    EXPECT_THAT(counted, HasSubstr(std::string(name) + R"({model="copier-en-ko"})"));
  const HttpAnswer form = ask(server_->port(), "POST", "/translate", "q=the+fox&source=en&target=ko",
                              "Content-Type: application/x-www-form-urlencoded\r\n");
  EXPECT_EQ(json::parse(form.body), one);
  const json several = json::parse(
      post("/translate", {{"q", {"the fox", "the dog"}}, {"source", "auto"}, {"target", "ko"}, {"alternatives", 2}})
          .body);
  ASSERT_EQ(several["translatedText"].size(), 2);
  EXPECT_EQ(several["translatedText"][0], one["translatedText"]);
  EXPECT_EQ(several["detectedLanguage"][0]["language"], "en");
  EXPECT_LE(several["alternatives"][0].size(), 2);
  const json html = json::parse(
      post("/translate", {{"q", "<b>the fox</b>\n"}, {"source", "en"}, {"target", "ko"}, {"format", "html"}}).body);
  EXPECT_THAT(html["translatedText"].get<std::string>(), testing::StartsWith("<b>"));
  EXPECT_THAT(html["translatedText"].get<std::string>(), testing::EndsWith("</b>\n"));
  const std::string markup = "<!-- a > b --><SCRIPT>the fox</script><style>b {}</style><br/>";
  const json kept =
      json::parse(post("/translate", {{"q", markup}, {"source", "en"}, {"target", "ko"}, {"format", "html"}}).body);
  EXPECT_EQ(kept["translatedText"], markup);
  const auto translated = [&](const char* text, const char* format) {
    const json body = {{"q", text}, {"source", "en"}, {"target", "ko"}, {"format", format}};
    return json::parse(post("/translate", body).body)["translatedText"].get<std::string>();
  };
  EXPECT_EQ(translated("&#116;&#x68;e f&#111;x", "html"), translated("the fox", "html"));
  EXPECT_EQ(translated("&lt;b&gt; &none; &", "html"), translated("&#60;b&#62; &amp;none; &amp;", "html"));
  const HttpAnswer wrong = post("/translate", {{"q", "x"}, {"source", "de"}, {"target", "ko"}});
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(json::parse(wrong.body), json({{"error", "de is not supported"}}));
  EXPECT_EQ(json::parse(post("/detect", {{"q", "가나다"}}).body)[0]["language"], "ko");
  start({}, {}, "s3cret");
  EXPECT_EQ(post("/translate", {{"q", "x"}, {"source", "en"}, {"target", "ko"}}).status, 403);
  EXPECT_EQ(post("/translate", {{"q", "x"}, {"source", "en"}, {"target", "ko"}, {"api_key", "s3cret"}}).status, 200);
}

// Everything that is documented is there, and what is there is documented.
TEST_F(Serving, DescribesWhatItServes) {
  const json document = json::parse(ask(server_->port(), "GET", "/openapi.json").body);
  size_t described = 0;
  for (const Route& route : server_->router().routes()) {
    if (route.pattern == "/{file...}") continue;
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    EXPECT_TRUE(document["paths"][route.pattern].contains(method)) << route.method << " " << route.pattern;
    ++described;
    const HttpAnswer answer = ask(server_->port(), route.method, route.pattern, route.method == "POST" ? "{}" : "");
    EXPECT_NE(answer.status, 405) << route.pattern;
    EXPECT_NE(answer.status, 500) << route.pattern;
  }
  EXPECT_EQ(document["paths"].size(), described);
}

// Every field of a body that is documented is taken; another one is refused by its name.
TEST_F(Serving, TakesTheFieldsThatItDescribes) {
  const json document = json::parse(ask(server_->port(), "GET", "/openapi.json").body);
  for (const char* path : {"/v1/completions", "/v1/chat/completions", "/v1/embeddings"}) {
    const json& properties =
        document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"];
    ASSERT_GE(properties.size(), 4) << path;
    json body = json::object();
    for (const auto& [name, schema] : properties.items()) body[name] = nullptr;
    body["model"] = "talker";
    const std::string input = path == std::string("/v1/completions") ? "prompt" : "input";
    if (path == std::string("/v1/chat/completions"))
      body["messages"] = {{{"role", "user"}, {"content", "the fox"}}};
    else
      body[input] = "the fox";
    if (body.contains("max_tokens")) body["max_tokens"] = 1;
    EXPECT_EQ(post(path, body).status, 200) << post(path, body).body;
    body["no_such_field"] = 1;
    const HttpAnswer refused = post(path, body);
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(refused.body, HasSubstr(R"("param":"no_such_field")"));
  }
}

// A small part of tests/studies/hostile_server.py.
TEST_F(Serving, LivesThroughHostileRequests) {
  const std::string deep(5000, '['), wide = R"({"prompt": ")" + std::string(100000, 'a') + "\"}";
  const std::vector<std::string> bodies = {"{",
                                           "{\"prompt\": ",
                                           "null",
                                           "[]",
                                           "\"\"",
                                           deep,
                                           "{\"prompt\": " + deep,
                                           wide,
                                           "{\"prompt\": \"\xff\xfe\"}",
                                           "{\"max_tokens\": 1e999}",
                                           "{\"n\": 99999999999999999999}",
                                           "{\"prompt\": [[[]]]}",
                                           "{\"prompt\": [1.5]}",
                                           "{\"stop\": [[]]}",
                                           "{\"stop\": \"\"}",
                                           "{\"logprobs\": -1}",
                                           "{\"seed\": \"x\"}",
                                           "{\"prompt\": \"a\", \"prompt\": \"b\"}",
                                           std::string("{\"prompt\": \"\0\"}", 15)};
  for (const char* path : {"/v1/completions", "/v1/chat/completions", "/v1/embeddings", "/translate", "/detect"})
    for (const std::string& body : bodies) {
      const bool object = body.starts_with("{\"");
      const HttpAnswer answer =
          ask(server_->port(), "POST", path, object ? R"({"model": "writer", )" + body.substr(1) : body);
      EXPECT_TRUE(answer.status >= 400 && answer.status < 500)
          << path << " " << body.substr(0, 40) << ": " << answer.status;
    }
  for (const char* path : {"/../../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/assets/%2e%2e/x",
                           "/v1/models/%00", "/v1/models/../../x"})
    EXPECT_THAT(ask(server_->port(), "GET", path).status, testing::AnyOf(400, 404)) << path;
  EXPECT_EQ(status({}), 200);
}

}  // namespace
}  // namespace limpid
