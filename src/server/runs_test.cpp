// A training run as others see it: by its folder while and after it runs, and over sockets together with its model.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "formats/safetensors.h"
#include "inspect/run_recording.h"
#include "server/inspect_routes.h"
#include "server/runs_routes.h"
#include "training/toy_corpus.h"
#include "training/trainer.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

class Silent : public TrainingObserver {
 public:
  void preparing(const std::string&, double) override {}
  void starting(const Dataset&, const Config&, int64_t, int64_t) override {}
  void step(const StepReport&) override {}
  void validation(const ValidationReport&) override {}
  void note(const std::string&) override {}
};

// A run of a few steps with all that it leaves behind.
class ToyRun {
 public:
  explicit ToyRun(const std::string& family) {
    const Recipe recipe = corpus_.recipe(family, {"stop.steps=6", "validation.steps=2", "checkpoint.steps=6"});
    Silent silent;
    RunFolder folder(path());
    std::optional<RunRecording> recording;
    train(recipe, folder, silent,
          {.interrupted =
               [&] {
                 seen_running = seen_running || WatchedRun("run", path()).running();
                 return false;
               },
           .validated =
               [&](const Model& model, const Dataset& dataset, int64_t step) {
                 if (!recording) recording.emplace(path(), *dataset.valid);
                 recording->record(model, dataset.tokenizers, step);
               }});
  }
  std::filesystem::path path() const { return corpus_ / "run"; }

  bool seen_running = false;

 private:
  ToyCorpus corpus_;
};

TEST(Runs, AFolderTellsStateLogAndWhatWasRecorded) {
  for (const char* family : {"marian", "gpt2"}) {
    const ToyRun toy(family);
    EXPECT_TRUE(toy.seen_running);
    const WatchedRun run("run", toy.path());
    EXPECT_FALSE(run.running());
    EXPECT_EQ(run.state(), "finished");
    const Json details = run.details();
    EXPECT_EQ(details["state"], "finished");
    EXPECT_EQ(details["validation"]["step"], 6);
    EXPECT_EQ(details["recipe"]["stop"]["steps"], 6);
    EXPECT_TRUE(details["training"].is_object());
    const Json log = run.events(0, 0);
    EXPECT_EQ(log["next"], log["events"].size());
    EXPECT_EQ(log["events"].back()["event"], "finished");
    EXPECT_TRUE(run.events(log["next"].get<int64_t>(), 0)["events"].empty());
    const Json recorded = run.recorded();
    EXPECT_EQ(recorded["steps"], (Json{2, 4, 6}));
    const std::string bytes = run.recording(4);
    const auto contents = parse_safetensors(std::as_bytes(std::span(bytes)), "[test]");
    const Json meta = Json::parse(contents.metadata.at("limpid"));
    EXPECT_EQ(meta["step"], 4);
    for (const SafetensorsEntry& entry : contents.entries) {
      if (!entry.name.ends_with(".pattern")) continue;
      std::vector<real> numbers(static_cast<size_t>(entry.count()));
      read_reals(entry, numbers.data());
      double sum = 0;
      for (int64_t i = 0; i < entry.shape[2]; ++i) sum += static_cast<double>(numbers[static_cast<size_t>(i)]);
      EXPECT_NEAR(sum, 1, 1e-5) << entry.name;  // the first query's row
    }
    EXPECT_THROW(run.recording(3), HttpError);
  }
}

TEST(Runs, ALogIsReadWhileItGrows) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "log.jsonl";
  int64_t offset = 0;
  EXPECT_TRUE(new_lines(file, offset).empty());
  write_text(file, "{\"a\":1}\n{\"b\":");
  EXPECT_EQ(new_lines(file, offset), std::vector<std::string>{"{\"a\":1}"});
  write_text(file, "{\"a\":1}\n{\"b\":2}\n");
  EXPECT_EQ(new_lines(file, offset), std::vector<std::string>{"{\"b\":2}"});
  write_text(file, "{\"c\":3}\n");
  EXPECT_TRUE(new_lines(file, offset).empty());
  EXPECT_EQ(offset, -1);  // begun anew
}

// One request over a connection of its own.
std::string http(int port, const std::string& method, const std::string& path, const std::string& body = "",
                 size_t enough = SIZE_MAX) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("no connection");
  const std::string request =
      fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", method,
                  path, port, body.size(), body);
  if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) < 0) throw std::runtime_error("not sent");
  std::string answer;
  std::array<char, 4096> part{};
  for (ssize_t count = 0; answer.size() < enough && (count = ::recv(socket, part.data(), part.size(), 0)) > 0;)
    answer.append(part.data(), static_cast<size_t>(count));
  ::close(socket);
  return answer;
}

std::string body_of(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }

TEST(WatchedRun, ReadsTheEndOfALogAlone) {
  const TemporaryFolder folder;
  const auto last = [&](const std::string& text) {
    write_text(folder.path() / "log", text);
    return last_line(folder.path() / "log");
  };
  EXPECT_EQ(last_line(folder.path() / "none"), "");
  EXPECT_EQ(last(""), "");
  EXPECT_EQ(last("not whole"), "");
  EXPECT_EQ(last("one\n"), "one");
  EXPECT_EQ(last("one\ntwo\nnot whole"), "two");
  EXPECT_EQ(last("\n"), "");
  for (const int64_t size : {4094, 4095, 4096, 4097, 10000}) {
    const std::string long_line(static_cast<size_t>(size), 'x');
    EXPECT_EQ(last(long_line + "\n"), long_line);
    EXPECT_EQ(last("one\n" + long_line + "\n"), long_line);
    EXPECT_EQ(last("one\n" + long_line), "one");
  }
}

TEST(InspectServer, AnswersOverSockets) {
  const ToyRun toy("marian");
  Server server({.port = 0});
  ServedModels models;
  WatchedRuns runs;
  RunEvents events(std::chrono::milliseconds(20));
  add_inspect_routes(server, models, {.bytes = 1 << 20});
  add_runs_routes(server, runs, events);
  server.start();
  const ServedModel& model = models.load("toy=" + toy.path().string(), {});
  runs.add(toy.path(), model.id);
  server.set_ready();
  const int port = server.port();

  const Json description = Json::parse(body_of(http(port, "GET", "/inspect/model?model=toy")));
  EXPECT_EQ(description["family"], "encoder_decoder");
  EXPECT_FALSE(description["example"].is_null());
  const Json lens = Json::parse(body_of(http(port, "POST", "/inspect/lens", R"({"text":"a b c"})")));
  EXPECT_TRUE(lens.contains("lens"));
  EXPECT_THAT(http(port, "POST", "/inspect/lens", R"({"text":"a","texts":"a"})"),
              testing::AllOf(HasSubstr(" 400 "), HasSubstr("texts")));
  EXPECT_THAT(http(port, "POST", "/inspect/lens", "{"), HasSubstr(" 400 "));
  const std::string capture =
      http(port, "POST", "/inspect/capture", R"({"text":"a b","taps":["decoder.0.resid_post"]})");
  EXPECT_THAT(capture, HasSubstr("application/octet-stream"));
  const std::string body = body_of(capture);
  EXPECT_EQ(parse_safetensors(std::as_bytes(std::span(body)), "[test]").entries.size(), 1u);
  const std::string trace =
      http(port, "POST", "/inspect/trace", R"({"text":"a b c","subject":"0","samples":2,"stream":true})");
  EXPECT_THAT(trace,
              testing::AllOf(HasSubstr("text/event-stream"), HasSubstr("event: result"), HasSubstr("\"clean\"")));
  const std::string gradient =
      http(port, "POST", "/inspect/gradient", R"({"text":"a b c","taps":["*"],"stream":true,"top":3})");
  EXPECT_THAT(gradient, testing::AllOf(HasSubstr("event: progress"), HasSubstr("event: result")));
  EXPECT_THAT(http(port, "POST", "/inspect/trace", R"({"text":"a b c","subject":"zz","stream":true})"),
              HasSubstr("event: error"));
  size_t fired = 0;  // one neuron may be silent on all texts
  for (int neuron = 0; neuron < 8; ++neuron) {
    const Json request = {{"block", 0}, {"neuron", neuron}, {"corpus", true}};
    const Json answer = Json::parse(body_of(http(port, "POST", "/inspect/neuron", request.dump())));
    fired += answer.at("firing").at("texts").size();
  }
  EXPECT_GT(fired, 0u);

  const Json list = Json::parse(body_of(http(port, "GET", "/runs")));
  EXPECT_EQ(list["runs"][0]["id"], "run");
  EXPECT_EQ(list["runs"][0]["model"], "toy");
  EXPECT_THAT(http(port, "GET", "/runs/nowhere"), HasSubstr(" 404 "));
  EXPECT_THAT(http(port, "GET", "/runs/..%2f..%2fetc/log"), testing::AnyOf(HasSubstr(" 404 "), HasSubstr(" 400 ")));
  EXPECT_THAT(http(port, "GET", "/runs/run/recipe"), HasSubstr("[model]"));
  EXPECT_THAT(http(port, "GET", "/runs/run/recorded/6"), HasSubstr("lens.probability"));
  EXPECT_THAT(http(port, "GET", "/runs/run/events", "", 900),
              testing::AllOf(HasSubstr("event: validation"), HasSubstr("id: 1")));

  // Whoever listens is told that it is over.
  auto listening = std::async(std::launch::async, [&] { return http(port, "GET", "/runs/run/events"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  events.end();
  EXPECT_THAT(listening.get(), testing::EndsWith("0\r\n\r\n"));
  EXPECT_THAT(http(port, "GET", "/runs/run/events"), testing::EndsWith("0\r\n\r\n"));

  // Two clients with different edits at the same moment each see their own model.
  const auto ask = [&](double factor) {
    return body_of(http(
        port, "POST", "/inspect/output",
        fmt::format(R"({{"text":"a b c","interventions":[{{"edit":"model.decoder.layers.0.fc1.weight[:,:]*={}"}}]}})",
                    factor)));
  };
  const std::string first = ask(0), second = ask(3);
  EXPECT_THAT(first, HasSubstr("\"tokens\""));
  EXPECT_NE(first, second);
  std::vector<std::thread> clients;
  std::atomic<int> wrong = 0;
  for (const double factor : {0.0, 3.0})
    clients.emplace_back([&, factor] {
      for (int i = 0; i < 10; ++i) wrong += ask(factor) != (factor == 0 ? first : second);
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
  server.stop(std::chrono::seconds(1));
}

}  // namespace
}  // namespace limpid
