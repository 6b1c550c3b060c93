#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "base/parallel.h"
#include "server/http_client.h"
#include "server/server.h"

namespace limpid {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A server of a few routes, with limits that tests can reach.
class RunningServer : public testing::Test {
 protected:
  void SetUp() override { start({}); }
  void TearDown() override { server_.reset(); }  // its log ends before this does
  void start(ServerOptions options) {
    server_.reset();
    options.port = 0;
    options.limits.body_bytes = 2000;
    options.limits.header_bytes = 2000;
    options.limits.connections = 200;
    options.limits.head = options.limits.body = TransportLimits::Seconds(0.5);
    options.access_log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_ += std::string(line) + "\n";
    };
    server_ = std::make_unique<Server>(std::move(options));
    Router& router = server_->router();
    router.add("GET", "/hello/{name}", [](const Request& request) {
      return Response{200, "hello " + std::string(request.parameter("name")), "text/plain"};
    });
    router.add("POST", "/echo", [](const Request& request) { return Response{200, request.body, "text/plain"}; });
    router.add("GET", "/fails", [](const Request&) -> Response { fail("[test] it is wrong: mend it"); });
    router.add("GET", "/breaks", [](const Request&) -> Response { throw std::runtime_error("broken"); });
    router.add("GET", "/drops", Handler([](const Request&, const std::shared_ptr<Reply>&) {}));
    router.add("GET", "/waits", Handler([this](const Request&, const std::shared_ptr<Reply>& reply) {
                 ++waiting_;
                 while (!reply->cancelled()) std::this_thread::sleep_for(1ms);
               }));
    router.add("GET", "/computes", Handler([this](const Request&, const std::shared_ptr<Reply>&) {
                 ++waiting_;
                 try {
                   for (;;) parallel_for(2, [](int64_t) { std::this_thread::sleep_for(1ms); });
                 } catch (const Error&) {
                   ++left_;
                   throw;
                 }
               }),
               {.heavy = true});
    router.add("GET", "/stream", Handler([this](const Request&, const std::shared_ptr<Reply>& reply) {
                 reply->begin(event_stream_head());
                 for (int i = 0; !reply->cancelled() && i < 2000; ++i) {
                   reply->write(event_text(std::to_string(i)));
                   std::this_thread::sleep_for(1ms);
                 }
                 if (reply->cancelled()) ++left_;
                 reply->end();
               }));
    server_->start();
    server_->set_ready();
  }
  int port() const { return server_->port(); }
  std::string log() const {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  std::unique_ptr<Server> server_;
  std::atomic<int> left_ = 0, waiting_ = 0;
  mutable std::mutex mutex_;
  std::string log_;
};

TEST_F(RunningServer, AnswersAndLogsWithoutTheText) {
  const HttpAnswer answer = ask(port(), "GET", "/hello/J%C3%BCrgen?secret=1");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "hello Jürgen");
  EXPECT_THAT(answer.head, Not(HasSubstr("Server:")));
  EXPECT_THAT(answer.head, HasSubstr("nosniff"));
  EXPECT_EQ(ask(port(), "POST", "/echo", "private words").body, "private words");
  server_->stop(1s);
  EXPECT_THAT(log(), HasSubstr(R"("path":"/echo","status":200)"));
  EXPECT_THAT(log(), Not(HasSubstr("private")));
  EXPECT_THAT(log(), Not(HasSubstr("secret")));
}

TEST_F(RunningServer, LogsTheTextWhereItIsAskedTo) {
  start({.log_text = true});
  EXPECT_EQ(ask(port(), "POST", "/echo", "private \"words\" \xff").status, 200);
  server_->stop(1s);
  EXPECT_THAT(log(), HasSubstr(R"("text":"private \"words\" \ufffd")"));
}

TEST_F(RunningServer, TellsErrorsInOneShape) {
  EXPECT_EQ(ask(port(), "GET", "/hello/a/b").status, 404);
  const HttpAnswer wrong_method = ask(port(), "DELETE", "/echo");
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_THAT(wrong_method.head, HasSubstr("Allow: POST"));
  const HttpAnswer failed = ask(port(), "GET", "/fails");
  EXPECT_EQ(failed.status, 400);
  EXPECT_THAT(failed.body, HasSubstr(R"({"error":{"message":"[test] it is wrong: mend it")"));
  EXPECT_EQ(ask(port(), "GET", "/breaks").status, 500);
  EXPECT_EQ(ask(port(), "GET", "/drops").status, 500);
}

TEST_F(RunningServer, KeepsConnectionsAndTakesRequestsInARow) {
  HttpClient client(port());
  client.send("GET /hello/a HTTP/1.1\r\nHost: localhost\r\n\r\nGET /hello/b HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.receive_until("hello b"), HasSubstr("hello a"));
  client.send("HEAD /hello/c HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string all = client.receive_all();
  EXPECT_THAT(all, HasSubstr("Content-Length: 7"));
  EXPECT_THAT(all, Not(HasSubstr("hello c")));
}

TEST_F(RunningServer, ReadsBodiesInEveryForm) {
  HttpClient chunked(port());
  chunked.send(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(parse_answer(chunked.receive_all()).body, "abcde");
  HttpClient expecting(port());
  expecting.send(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_THAT(expecting.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  expecting.send("ok");
  EXPECT_THAT(expecting.receive_all(), testing::EndsWith("ok"));
}

TEST_F(RunningServer, RefusesWhatIsTooLargeTooSlowOrNoHttp) {
  const HttpAnswer large = ask(port(), "POST", "/echo", std::string(3000, 'x'));
  EXPECT_EQ(large.status, 413);
  EXPECT_THAT(large.body, StartsWith(R"({"error":{"message":"The body is larger than the 2000 bytes allowed.")"));
  EXPECT_EQ(ask(port(), "GET", "/hello/x", "", "X-Long: " + std::string(70000, 'x') + "\r\n").status, 431);
  EXPECT_EQ(ask(port(), "GET", "no-path").status, 400);
  EXPECT_EQ(ask(port(), "GET", "/hello/%zz").status, 400);
  HttpClient garbage(port());
  garbage.send("\x16\x03\x01 this is no HTTP\r\n\r\n");
  EXPECT_EQ(parse_answer(garbage.receive_all()).status, 400);
  HttpClient slow(port());
  slow.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(parse_answer(slow.receive_all()).status, 408);
  HttpClient half(port());
  half.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
  half.finish_sending();
  half.receive_all();
  EXPECT_TRUE(half.closed());
  EXPECT_EQ(ask(port(), "GET", "/hello/x").status, 200);
}

TEST_F(RunningServer, StreamsAndNoticesAClientThatLeaves) {
  {
    HttpClient client(port());
    client.send(request_text("GET", "/stream"));
    const std::string begin = client.receive_until("data: 5\n\n");
    EXPECT_THAT(begin, HasSubstr("Transfer-Encoding: chunked"));
    EXPECT_THAT(begin, HasSubstr("text/event-stream"));
  }
  for (int i = 0; i < 500 && left_ == 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(left_, 1);
}

TEST_F(RunningServer, FinishesWhatRunsAndRefusesNewWork) {
  const int port_until_then = port();
  HttpClient client(port_until_then);
  client.send(request_text("GET", "/stream"));
  client.receive_until("data: 0\n\n");
  auto stopped = std::async(std::launch::async, [&] { server_->stop(60s); });
  EXPECT_THAT(client.receive_all(60), HasSubstr("data: 1999\n\n"));
  stopped.get();
  EXPECT_FALSE(HttpClient(port_until_then).connected());
}

TEST_F(RunningServer, CutsWhatRunsWhenTheGraceIsOver) {
  HttpClient client(port());
  client.send(request_text("GET", "/stream"));
  client.receive_until("data: 0\n\n");
  HttpClient waiting(port());
  waiting.send(request_text("GET", "/waits"));
  for (int i = 0; i < 10000 && waiting_ == 0; ++i) std::this_thread::sleep_for(1ms);
  server_->stop(0s);
  EXPECT_THAT(waiting.receive_all(),
              AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr(R"({"error":{"message":"The server is stopping.")")));
  EXPECT_THAT(client.receive_all(), Not(testing::EndsWith("\r\n0\r\n\r\n")));  // it does not look whole
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(left_, 1);
}

// Work is broken off wherever it is: nobody waits for it any more, its time is over, the server ends.
TEST_F(RunningServer, BreaksOffWorkOfClientsThatLeave) {
  {
    HttpClient client(port());
    client.send(request_text("GET", "/computes"));
    for (int i = 0; i < 5000 && waiting_ == 0; ++i) std::this_thread::sleep_for(1ms);
  }
  for (int i = 0; i < 5000 && left_ == 0; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(left_, 1);
}

TEST_F(RunningServer, BreaksOffWorkThatTakesTooLong) {
  start({.limits = {.request = TransportLimits::Seconds(0.2)}});
  const HttpAnswer answer = ask(port(), "GET", "/computes");
  EXPECT_EQ(answer.status, 408);
  EXPECT_THAT(answer.body, HasSubstr("took longer"));
  EXPECT_EQ(left_, 1);
}

TEST_F(RunningServer, BreaksOffWorkWhenTheGraceIsOver) {
  HttpClient client(port());
  client.send(request_text("GET", "/computes"));
  for (int i = 0; i < 5000 && waiting_ == 0; ++i) std::this_thread::sleep_for(1ms);
  server_->stop(0.1s);  // would never return
  EXPECT_EQ(left_, 1);
  EXPECT_EQ(parse_answer(client.receive_all()).status, 503);
}

TEST_F(RunningServer, TellsItsHealthWhileAllThreadsAreTaken) {
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<HttpClient>(port()));
    clients.back()->send(request_text("GET", "/waits"));
  }
  for (int i = 0; i < 5000 && waiting_ < 4; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(waiting_, 4) << "quick threads";
  EXPECT_EQ(ask(port(), "GET", "/health", "", "", 5).status, 200);
  const std::string expected = "limpid_handlers_waiting{kind=\"quick\"} 4";
  std::string counted;
  for (int i = 0; i < 500 && counted.find(expected) == std::string::npos; ++i)
    counted = ask(port(), "GET", "/metrics", "", "", 5).body;
  EXPECT_THAT(counted, HasSubstr(expected));
}

TEST_F(RunningServer, AnswersARequestThatIsHalfSentWhenItEnds) {
  const auto start_patient = [&] {
    server_ = std::make_unique<Server>(ServerOptions{.port = 0});
    server_->router().add("POST", "/echo", [](const Request& request) { return Response{200, request.body}; });
    server_->start();
    server_->set_ready();
  };
  start_patient();
  HttpClient client(port());
  client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nabc");
  while (server_->requests() == 0) std::this_thread::sleep_for(1ms);
  auto stopped = std::async(std::launch::async, [&] { server_->stop(60s); });
  std::this_thread::sleep_for(50ms);
  client.send("def");
  EXPECT_EQ(parse_answer(client.receive_all()).body, "abcdef");
  stopped.get();
  start_patient();
  HttpClient slow(port());
  slow.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nabc");
  while (server_->requests() == 0) std::this_thread::sleep_for(1ms);
  server_->stop(0s);
  EXPECT_EQ(parse_answer(slow.receive_all()).status, 503);
}

// Streams that go on as long as somebody listens have no deadline.
TEST_F(RunningServer, LetsEndlessStreamsGoOn) {
  server_ = std::make_unique<Server>(ServerOptions{.port = 0, .limits = {.request = TransportLimits::Seconds(0.05)}});
  const auto listen = [](const Request&, const std::shared_ptr<Reply>& reply) {
    reply->begin(event_stream_head());
    for (int i = 0; i < 40 && reply->write(event_text(std::to_string(i))); ++i) std::this_thread::sleep_for(20ms);
    reply->end();
  };
  server_->router().add("GET", "/endless", Handler(listen), {.endless = true});
  server_->router().add("GET", "/bounded", Handler(listen));
  server_->start();
  server_->set_ready();
  EXPECT_THAT(ask(port(), "GET", "/endless").body, HasSubstr("data: 39\n"));
  EXPECT_THAT(ask(port(), "GET", "/bounded").body, Not(HasSubstr("data: 39\n")));
}

TEST_F(RunningServer, SplitsAPathBeforeItIsDecoded) {
  EXPECT_EQ(ask(port(), "GET", "/hello/a%2Fb").body, "hello a/b");
  EXPECT_EQ(ask(port(), "GET", "/hello/a%252Fb").body, "hello a%2Fb");
  EXPECT_EQ(ask(port(), "GET", "/hell%6F/a").body, "hello a");
}

TEST_F(RunningServer, HoldsManyIdleConnectionsAndRefusesTooMany) {
  std::vector<std::unique_ptr<HttpClient>> idle;
  for (int i = 0; i < 190; ++i) idle.push_back(std::make_unique<HttpClient>(port()));
  EXPECT_EQ(ask(port(), "GET", "/hello/x").status, 200);
  for (int i = 0; i < 20; ++i) idle.push_back(std::make_unique<HttpClient>(port()));
  EXPECT_EQ(ask(port(), "GET", "/hello/x").status, 429);
  idle.clear();
  for (int i = 0; i < 500 && server_->connections() > 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(ask(port(), "GET", "/hello/x").status, 200);
}

TEST_F(RunningServer, IsReadyOnlyWhenItsModelsAre) {
  server_ = std::make_unique<Server>(ServerOptions{.port = 0});
  server_->router().add("GET", "/x", [](const Request&) { return Response{200, "x"}; });
  server_->start();
  EXPECT_EQ(ask(port(), "GET", "/health").status, 503);
  EXPECT_EQ(ask(port(), "GET", "/x").status, 503);
  server_->set_ready();
  EXPECT_EQ(ask(port(), "GET", "/health").status, 200);
  EXPECT_EQ(ask(port(), "GET", "/x").status, 200);
}

TEST_F(RunningServer, LetsInWhoMayComeIn) {
  EXPECT_EQ(ask(port(), "GET", "/hello/x", "", "Origin: http://localhost\r\n").status, 200);
  EXPECT_EQ(ask(port(), "GET", "/hello/x", "", "Origin: http://elsewhere.org\r\n").status, 403);
  EXPECT_EQ(ask(port(), "GET", "/hello/x", "", "Sec-Fetch-Site: cross-site\r\n").status, 403);
  HttpClient client(port());
  client.send("GET /hello/x HTTP/1.1\r\nHost: attacker.example\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(parse_answer(client.receive_all()).status, 421);
  EXPECT_TRUE(is_loopback("127.0.0.1"));
  EXPECT_FALSE(is_loopback("127.attacker.example"));
  start({.access = {.origins = {"https://friend.org"}, .key = "s3cret"}});
  const std::string friendly = "Origin: https://friend.org\r\n";
  EXPECT_EQ(ask(port(), "GET", "/hello/x", "", friendly).status, 401);
  EXPECT_EQ(ask(port(), "GET", "/hello/x", "", "Authorization: Bearer s3cre\r\n").status, 401);
  EXPECT_EQ(ask(port(), "GET", "/hello/x", "", "Authorization: Bearer s3cret\r\n").status, 200);
  EXPECT_EQ(ask(port(), "GET", "/health").status, 200);
  const HttpAnswer before = ask(port(), "OPTIONS", "/hello/x", "", friendly);
  EXPECT_EQ(before.status, 204);
  EXPECT_THAT(before.head, HasSubstr("Access-Control-Allow-Origin: https://friend.org"));
  EXPECT_THROW(Access({.host = "0.0.0.0"}), Error);
  EXPECT_NO_THROW(Access({.host = "0.0.0.0", .no_key = true}));
}

TEST_F(RunningServer, DescribesTheRoutesThatItHas) {
  const std::string document = ask(port(), "GET", "/openapi.json").body;
  EXPECT_THAT(document, HasSubstr("\"/health\""));
  EXPECT_THAT(document, Not(HasSubstr("/echo"))) << "it has no summary";
  EXPECT_THAT(ask(port(), "GET", "/metrics").body,
              HasSubstr("limpid_requests_total{route=\"/openapi.json\",status=\"200\"} 1"));
}

}  // namespace
}  // namespace limpid
