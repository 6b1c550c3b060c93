// Models over sockets: saved, opened again and asked by many clients at once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "formats/model_folder.h"
#include "models/small_models.h"
#include "server/experiments_routes.h"
#include "server/http_client.h"
#include "server/inspect_routes.h"
#include "server/inspect_views.h"
#include "server/libretranslate_routes.h"
#include "server/openai_routes.h"
#include "server/runs_routes.h"
#include "text/bpe_tokenizer.h"
#include "text/byte_characters.h"
#include "text/tokenizer_training.h"
#include "text/utf8.h"

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
    write(name, config, type, changes, train_tokenizers({.kind = TokenizerKind::characters}, lines, lines));
  }
  static void write(const std::string& name, const std::string& config, const std::string& type, const json& changes,
                    const Tokenizers& tokenizers) {
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
  void start(const EngineServiceOptions& engine, const RequestLimits& limits, const std::string& key = "",
             const TransportLimits& transport = {}) {
    stop();
    server_ = std::make_unique<Server>(ServerOptions{.port = 0, .access = {.key = key}, .limits = transport});
    models_ = std::make_unique<ServedModels>();
    describe_engine_metrics(server_->metrics());
    add_openai_routes(*server_, *models_, limits);
    add_libretranslate_routes(*server_, *models_, {}, limits);
    add_inspect_routes(*server_, *models_);
    add_runs_routes(*server_, runs_, events_);
    add_experiments_routes(*server_, {});
    server_->router().add("GET", "/computes", Handler([this](const Request&, const std::shared_ptr<Reply>& reply) {
                            ++computing_;
                            while (!reply->cancelled()) std::this_thread::sleep_for(1ms);
                          }),
                          {.heavy = true});
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
  std::atomic<int> computing_ = 0;
  WatchedRuns runs_;
  RunEvents events_;
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
  start({}, {});
  EXPECT_NE(completion({})["id"], answer["id"]) << "of another server, though it is its first request too";
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
  EXPECT_EQ(status({{"top_k", -1}}), 200);
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
  // An answer of OpenAI's given back as it came, and words about tools where there are none.
  json longer = talk;
  longer.push_back({{"role", "assistant"}, {"content", "fox"}, {"refusal", nullptr}, {"annotations", json::array()}});
  EXPECT_EQ(answer("talker", longer, {{"tools", json::array()}, {"tool_choice", "auto"}}).status, 200);
  longer.back()["tool_calls"] = {{{"id", "a"}}};
  EXPECT_THAT(answer("talker", longer).body, HasSubstr("tool_calls"));
  EXPECT_THAT(answer("talker", talk, {{"tool_choice", "required"}}).body, HasSubstr(R"("param":"tool_choice")"));
  EXPECT_EQ(answer("talker", {{{"role", "user"}}}).status, 400) << "nothing is said";
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
  EXPECT_EQ(status({{"n", 2}}), 200) << "one request waits, however many texts it asks for";
  const std::string counted = ask(server_->port(), "GET", "/metrics").body;
  EXPECT_THAT(counted, HasSubstr(R"(limpid_engine_batch_texts_bucket{model="writer",le="0"} 0)"))
      << "what finds nothing to do is no step";
  EXPECT_THAT(counted, HasSubstr(R"(limpid_engine_batch_texts_bucket{model="writer",le="1"})"));
}

// What the engine refuses is told as what it is: here a request for more than the memory allowed.
TEST_F(Serving, TellsWhatTheEngineRefuses) {
  start({.engine = {.memory = 100}}, {});
  EXPECT_EQ(status({}), 400);
  const HttpAnswer translated = post("/translate", {{"q", "the fox"}, {"source", "en"}, {"target", "ko"}});
  EXPECT_EQ(translated.status, 400);
  EXPECT_THAT(translated.body, HasSubstr("bytes of memory"));
}

// Prompts that are echoed with log-probabilities are read on threads for long work.
TEST_F(Serving, ReadsEchoedPromptsBesideQuickRequests) {
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<HttpClient>(server_->port()));
    clients.back()->send(request_text("GET", "/computes"));
  }
  for (int i = 0; i < 5000 && computing_ < 2; ++i) std::this_thread::sleep_for(1ms);
  auto echo = std::async(std::launch::async, [&] { return completion({{"echo", true}, {"logprobs", 1}}); });
  EXPECT_EQ(echo.wait_for(300ms), std::future_status::timeout);
  EXPECT_EQ(status({}), 200);
  EXPECT_EQ(ask(server_->port(), "GET", "/health").status, 200);
  clients.clear();
  EXPECT_FALSE(echo.get()["choices"].empty());
}

TEST_F(Serving, EmbedsAndScoresNoLongerThanAllowed) {
  const json texts(2000, std::string(200, 'a'));
  const json prompts(1000, std::string(250, 'a'));
  start({}, {.texts = 1000}, "", {.request = TransportLimits::Seconds(0.05)});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(post("/v1/embeddings", {{"model", "writer"}, {"input", texts}}).status, 408);
  const json echo = {{"model", "writer"}, {"prompt", prompts}, {"echo", true},
                     {"logprobs", 1},     {"max_tokens", 0},   {"n", 1}};
  EXPECT_EQ(post("/v1/completions", echo).status, 408);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST_F(Serving, RefusesWhatCannotFitBeforeItIsRead) {
  const HttpAnswer answer = post("/v1/completions", {{"model", "writer"}, {"prompt", std::string(1 << 20, 'a')}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("1048576 bytes"));
  EXPECT_THAT(answer.body, HasSubstr("context_length_exceeded"));
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

// Byte-level vocabularies, and such that fall back on bytes: the tokens told make the text, byte for byte.
TEST_F(Serving, TellsTheBytesOfTokens) {
  BpeParts parts;
  std::vector<std::string> pieces(byte_characters().begin(), byte_characters().end());
  for (const char* piece : {"he", "ll", "hell", "hello", "\u0120hello", "<|end|>"}) pieces.emplace_back(piece);
  parts.vocabulary = std::make_shared<Vocabulary>(pieces, std::vector<std::string>{"<|end|>"}, "test");
  parts.merges = {{"h", "e"}, {"l", "l"}, {"he", "ll"}, {"hell", "o"}, {"\u0120", "hello"}};
  parts.pre_tokenizer = PreTokenizer({{"type", "ByteLevel"}, {"add_prefix_space", false}}, "test");
  parts.decoder = {{"type", "ByteLevel"}};
  const auto level = std::make_shared<const BpeTokenizer>(parts, "test");
  std::vector<std::string> fallback = {"<unk>", "\u2581", "h", "e", "he", "\u2581he"};
  for (int byte = 0; byte < 256; ++byte) fallback.push_back(byte_token(static_cast<uint8_t>(byte)));
  BpeParts spaced;
  spaced.vocabulary = std::make_shared<Vocabulary>(fallback, std::vector<std::string>{"<unk>"}, "test");
  spaced.merges = {{"h", "e"}, {"\u2581", "he"}};
  spaced.pre_tokenizer = PreTokenizer({{"type", "Metaspace"}, {"prepend_scheme", "first"}, {"split", false}}, "test");
  spaced.decoder = {{"type", "Metaspace"}, {"prepend_scheme", "first"}};
  spaced.byte_fallback = true;
  const auto bytes = std::make_shared<const BpeTokenizer>(spaced, "test");
  write("level", "gpt2", "gpt2", {{"n_positions", 256}}, {.source = level, .target = level});
  write("fallback", "gpt2", "gpt2", {{"n_positions", 256}}, {.source = bytes, .target = bytes});
  write_text(folder_->path() / "level/chat_template.jinja", "{{ messages[0].content }}");
  for (const char* name : {"level", "fallback"}) models_->load((folder_->path() / name).string(), {});
  for (const char* name : {"level", "fallback"}) {
    const json answer = completion({{"model", name}, {"prompt", "he hello \uD55C"}, {"echo", true}, {"logprobs", 3}});
    const json& choice = answer["choices"][0];
    const std::string text = choice["text"];
    ASSERT_TRUE(text.starts_with("he hello \uD55C")) << text;
    const json& tokens = choice["logprobs"]["tokens"];
    if (name == std::string("level")) {
      EXPECT_EQ(tokens[0], "he");
      EXPECT_EQ(tokens[1], " hello");
      EXPECT_EQ(tokens[2], " ");
      EXPECT_EQ(tokens[3], "bytes:\\xed");
      EXPECT_EQ(choice["logprobs"]["text_offset"][4], 10) << "within the character at 9";
    } else {
      EXPECT_EQ(tokens[0], " he");
      EXPECT_EQ(tokens[1], " he");
      EXPECT_EQ(choice["logprobs"]["text_offset"][1], 2);
    }
    for (const auto& [key, value] : choice["logprobs"]["top_logprobs"].back().items())
      EXPECT_THAT(key, testing::Not(testing::AnyOf(HasSubstr("\u0120"), HasSubstr("<0x"), HasSubstr("\u2581"))));
  }
  const json chat = {{"model", "level"},   {"messages", {{{"role", "user"}, {"content", "hello"}}}},
                     {"max_tokens", 30},   {"temperature", 0},
                     {"ignore_eos", true}, {"logprobs", true},
                     {"top_logprobs", 2}};
  const HttpAnswer answer = post("/v1/chat/completions", chat);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json said = json::parse(answer.body)["choices"][0];
  std::string joined;
  for (const json& token : said["logprobs"]["content"])
    for (const int byte : token["bytes"]) joined += static_cast<char>(byte);
  EXPECT_EQ(repaired_utf8(joined), said["message"]["content"]);
}

TEST_F(Serving, FindsModelsWithASlashInTheirName) {
  models_->load("org/model=" + (folder_->path() / "writer").string(), {});
  const HttpAnswer answer = ask(server_->port(), "GET", "/v1/models/org%2Fmodel");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(json::parse(answer.body)["id"], "org/model");
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
  const json talk = {{{"role", "user"}, {"content", "fox"}}};
  EXPECT_THAT(post("/v1/chat/completions", {{"model", "reader"}, {"messages", talk}}).body,
              HasSubstr("writes no text"));
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
  EXPECT_EQ(translated("&lt;b&gt; &eacute; &", "html"), translated("&#60;b&#62; &#xE9; &amp;", "html"));
  EXPECT_THAT(translated("the fox &none;", "html"), testing::EndsWith("&none;")) << "as it is";
  EXPECT_EQ(translated("\u00A0", "html"), "\u00A0");
  EXPECT_THAT(translated("<a title=\"x > y\">the fox</a>", "html"), testing::StartsWith("<a title=\"x > y\">"));
  for (const char* code : {"en", "ko"})
    EXPECT_EQ(json::parse(post("/translate", {{"q", "x"}, {"source", code}, {"target", code}}).body),
              json({{"translatedText", "x"}}));
  EXPECT_EQ(post("/translate", {{"q", "x"}, {"source", "de"}, {"target", "de"}}).status, 400);
  const HttpAnswer wrong = post("/translate", {{"q", "x"}, {"source", "de"}, {"target", "ko"}});
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(json::parse(wrong.body), json({{"error", "de is not supported"}}));
  EXPECT_EQ(json::parse(post("/detect", {{"q", "가나다"}}).body)[0]["language"], "ko");
  const auto found_in = [&](const json& texts) {
    const HttpAnswer answer =
        post("/translate", {{"q", texts}, {"source", "auto"}, {"target", "ko"}, {"format", "html"}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body)["detectedLanguage"];
  };
  EXPECT_EQ(found_in("<section class=\"introduction\">가나다</section>")["language"], "ko") << "not by its tags";
  EXPECT_EQ(found_in({"the fox", "2024"})[1], json({{"confidence", 0.0}, {"language", "en"}}));
  EXPECT_EQ(post("/translate", {{"q", "2024"}, {"source", "auto"}, {"target", "ko"}}).status, 400);
  start({}, {}, "s3cret");
  EXPECT_EQ(post("/translate", {{"q", "x"}, {"source", "en"}, {"target", "ko"}}).status, 403);
  EXPECT_EQ(post("/translate", {{"q", "x"}, {"source", "en"}, {"target", "ko"}, {"api_key", "s3cret"}}).status, 200);
}

// LibreTranslate's documented requests and what they are answered with, word for word.
TEST_F(Serving, AnswersTheDocumentedRequestsOfLibreTranslate) {
  const json languages = json::parse(ask(server_->port(), "GET", "/languages").body);
  EXPECT_EQ(languages, json::parse(R"([{"code": "en", "name": "English", "targets": ["ko"]},
                                       {"code": "ko", "name": "Korean", "targets": []}])"));
  const auto keys = [](const json& object) {
    std::set<std::string> names;
    for (const auto& [name, value] : object.items()) names.insert(name);
    return names;
  };
  using Names = std::set<std::string>;
  const auto answer = [&](const std::string& body) {
    const HttpAnswer got = ask(server_->port(), "POST", "/translate", body, "Content-Type: application/json\r\n");
    EXPECT_EQ(got.status, 200) << got.body;
    return json::parse(got.body);
  };
  EXPECT_EQ(keys(answer(R"({"q": "the fox", "source": "en", "target": "ko"})")), Names{"translatedText"});
  const json detected = answer(R"({"q": "the fox", "source": "auto", "target": "ko"})");
  EXPECT_EQ(keys(detected), (Names{"detectedLanguage", "translatedText"}));
  EXPECT_EQ(keys(detected["detectedLanguage"]), (Names{"confidence", "language"}));
  EXPECT_EQ(detected["detectedLanguage"]["language"], "en");
  const json html =
      answer(R"({"q": "<p class=\"green\">the fox</p>", "source": "en", "target": "ko", "format": "html"})");
  EXPECT_THAT(html["translatedText"].get<std::string>(), testing::StartsWith("<p class=\"green\">"));
  const json others = answer(R"({"q": "the fox", "source": "auto", "target": "ko", "format": "text", "alternatives": 3,
                                 "api_key": ""})");
  EXPECT_EQ(keys(others), (Names{"alternatives", "detectedLanguage", "translatedText"}));
  EXPECT_TRUE(others["alternatives"].is_array() && others["alternatives"][0].is_string()) << others;
  const json several = answer(R"({"q": ["the fox", "the dog"], "source": "en", "target": "ko", "alternatives": 1})");
  EXPECT_EQ(several["translatedText"].size(), 2u);
  EXPECT_TRUE(several["alternatives"][1].is_array());
  const json found = json::parse(
      ask(server_->port(), "POST", "/detect", "q=%EA%B0%80", "Content-Type: application/x-www-form-urlencoded\r\n")
          .body);
  EXPECT_EQ(keys(found[0]), (Names{"confidence", "language"}));
  const auto error = [&](const json& body, int status) {
    const HttpAnswer got = post("/translate", body);
    EXPECT_EQ(got.status, status) << body;
    EXPECT_EQ(keys(json::parse(got.body)), Names{"error"});
    return json::parse(got.body)["error"].get<std::string>();
  };
  EXPECT_EQ(error({{"source", "en"}, {"target", "ko"}}, 400), "Invalid request: missing q parameter");
  EXPECT_EQ(error({{"q", "x"}, {"source", "en"}}, 400), "Invalid request: missing target parameter");
  EXPECT_EQ(error({{"q", "x"}, {"source", "xx"}, {"target", "ko"}}, 400), "xx is not supported");
  EXPECT_EQ(error({{"q", "x"}, {"source", "en"}, {"target", "ko"}, {"format", "pdf"}}, 400),
            "pdf format is not supported");
  start({}, {}, "s3cret");
  const std::string form = "q=fox&source=en&target=ko", type = "Content-Type: application/x-www-form-urlencoded\r\n";
  const auto with = [&](const std::string& body, const std::string& headers) {
    return ask(server_->port(), "POST", "/translate", body, type + headers).status;
  };
  EXPECT_EQ(with(form + "&api_key=s3cret", ""), 200);
  EXPECT_EQ(with(form + "&api_key=s3cre", ""), 403);
  EXPECT_EQ(with(form, ""), 403);
  EXPECT_EQ(with(form, "Authorization: Bearer s3cret\r\n"), 200);
  EXPECT_EQ(with(form, "Authorization: Bearer wrong\r\n"), 401);
}

// A text of many lines is one request; several requests go on side by side.
TEST_F(Serving, TranslatesLongTexts) {
  start({.engine = {.max_batch = 4}, .waiting = 4}, {});
  std::string lines;
  for (int i = 0; i < 40; ++i) lines += "the fox\n";
  const auto translate = [&] { return post("/translate", {{"q", lines}, {"source", "en"}, {"target", "ko"}}); };
  std::vector<std::future<HttpAnswer>> answers;
  for (int i = 0; i < 3; ++i) answers.push_back(std::async(std::launch::async, translate));
  const json one = json::parse(post("/translate", {{"q", "the fox"}, {"source", "en"}, {"target", "ko"}}).body);
  std::string expected;
  for (int i = 0; i < 40; ++i) expected += one["translatedText"].get<std::string>() + "\n";
  for (auto& answer : answers) {
    const HttpAnswer got = answer.get();
    ASSERT_EQ(got.status, 200) << got.body;
    EXPECT_EQ(json::parse(got.body)["translatedText"], expected);
  }
  EXPECT_EQ(post("/translate", {{"q", std::string(30000, '\n') + "a"}, {"source", "en"}, {"target", "ko"}}).status,
            200);
  std::string many;
  for (int i = 0; i < 10001; ++i) many += "a\n";
  EXPECT_EQ(post("/translate", {{"q", many}, {"source", "en"}, {"target", "ko"}}).status, 400);
}

TEST_F(Serving, BoundsTranslationsToo) {
  start({}, {.prompt_tokens = 10, .output_tokens = 2});
  const auto translate = [&](const std::string& text) {
    return post("/translate", {{"q", text}, {"source", "en"}, {"target", "ko"}});
  };
  const HttpAnswer answer = translate("the fox");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_LE(json::parse(answer.body)["translatedText"].get<std::string>().size(), 2u) << "of characters";
  EXPECT_EQ(translate("the quick brown fox").status, 400);
  EXPECT_EQ(translate("the fox\nthe fox").status, 400);
  EXPECT_EQ(translate(std::string(100000, 'a')).status, 400);
}

// Everything that is documented is there, and what is there is documented.
TEST_F(Serving, DescribesWhatItServes) {
  const json document = json::parse(ask(server_->port(), "GET", "/openapi.json").body);
  std::set<std::string> described;
  for (const Route& route : server_->router().routes()) {
    if (route.pattern == "/{file...}" || route.pattern == "/computes") continue;
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    const json& path = document["paths"][route.pattern];
    ASSERT_TRUE(path.contains(method)) << route.method << " " << route.pattern;
    EXPECT_EQ(path[method].contains("requestBody"), method == "post") << route.pattern;
    EXPECT_FALSE(path[method]["responses"]["200"]["content"].empty()) << route.pattern;
    EXPECT_TRUE(path[method]["responses"].contains("4XX")) << route.pattern;
    described.insert(route.pattern);
    const HttpAnswer answer =
        ask(server_->port(), route.method, route.pattern, route.method == "POST" ? R"({"no_such_field": 1})" : "");
    EXPECT_NE(answer.status, 405) << route.pattern;
    EXPECT_NE(answer.status, 500) << route.pattern;
  }
  EXPECT_EQ(document["paths"].size(), described.size());
  for (const char* path :
       {"/v1/completions", "/translate", "/inspect/lens", "/runs/{id}/events", "/experiments/{name}"})
    EXPECT_TRUE(described.contains(path)) << path;
}

// What a request needs so that a route answers it.
json needed_by(const std::string& path) {
  const json needed = {
      {"/v1/completions", {{"prompt", "the fox"}, {"max_tokens", 1}}},
      {"/v1/chat/completions",
       {{"model", "talker"}, {"messages", {{{"role", "user"}, {"content", "fox"}}}}, {"max_tokens", 1}}},
      {"/v1/embeddings", {{"input", "the fox"}}},
      {"/inspect/pieces", {{"tokens", {5}}}},
      {"/inspect/embedding", {{"words", {"t", "h", "e"}}}},
      {"/inspect/capture", {{"taps", "blocks.0.resid_post"}}},
      {"/inspect/gradient", {{"taps", "blocks.0.resid_post"}}},
      {"/inspect/attention", {{"attention", "blocks.0.attn"}}},
      {"/inspect/alignment", {{"model", "copier-en-ko"}}},
      {"/inspect/trace", {{"subject", "0"}, {"samples", 1}}},
      {"/inspect/intervene", {{"interventions", {{{"zero", "blocks.0.ffn_out"}}}}}},
      {"/inspect/weight", {{"name", "transformer.wte.weight"}}}};
  return needed.value(path, json::object());
}

// Every field of a body that is documented is taken; another one is refused by its name.
TEST_F(Serving, TakesTheFieldsThatItDescribes) {
  const json document = json::parse(ask(server_->port(), "GET", "/openapi.json").body);
  size_t asked = 0;
  for (const auto& [path, operations] : document["paths"].items()) {
    if (!operations.contains("post") || path == "/translate" || path == "/detect") continue;
    const json& schema = operations["post"]["requestBody"]["content"]["application/json"]["schema"];
    json body = json::object();
    for (const auto& [name, type] : schema["properties"].items()) body[name] = nullptr;
    const bool studies = path.starts_with("/experiments/");
    if (!studies) body["model"] = "writer";
    if (path.starts_with("/inspect/")) body["text"] = "the fox";
    const json needed = needed_by(path);
    for (const auto& [name, value] : needed.items()) body[name] = value;
    if (path == "/inspect/weight")
      body["name"] = json::parse(post("/inspect/parameters", {{"model", "writer"}}).body)["weights"][0]["name"];
    for (const json& name : schema.value("required", json::array()))
      EXPECT_FALSE(body[name.get<std::string>()].is_null()) << path << " " << name;
    ++asked;
    if (studies) {  // they train: it is enough that they begin
      HttpClient client(server_->port());
      client.send(request_text("POST", path, body.dump()));
      EXPECT_THAT(client.receive_until(path.ends_with("superposition/train") ? "represented" : "event: "),
                  testing::AllOf(HasSubstr(" 200 "), testing::Not(HasSubstr("no field"))))
          << path;
    } else {
      const HttpAnswer answer = post(path, body);
      EXPECT_EQ(answer.status, 200) << path << ": " << answer.body;
    }
    body["no_such_field"] = 1;
    const HttpAnswer refused = post(path, body);
    EXPECT_EQ(refused.status, 400) << path;
    EXPECT_THAT(refused.body, HasSubstr(R"("param":"no_such_field")")) << path;
  }
  EXPECT_EQ(asked, 3u + inspect_views().size() + 4u);
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
