#pragma once
// Transport: HTTP/1.1 over TCP. One thread waits for all connections (Boost.Asio); nothing that computes runs on it.
// It reads whole requests within limits, hands them on, writes what replies are given, and notices clients that leave.
// The HTTP library is seen by connection.cpp and transport.cpp alone.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/http.h"

namespace limpid {

struct TransportLimits {
  using Seconds = std::chrono::duration<double>;
  int64_t connections = 10000;
  int64_t header_bytes = 16 << 10;
  int64_t body_bytes = 8 << 20;
  int64_t unsent_bytes = 256 << 20;  // of one answer, that may wait for a slow client
  Seconds head{15};                  // from the first byte of a request to the end of its head
  Seconds body{60};                  // to the end of its body
  Seconds idle{120};                 // between two requests
  Seconds request{600};              // from the end of the body to the end of the answer
  Seconds write{60};                 // in which a client takes nothing of what waits for it
};

// What became of a request, for logs and counters.
struct Exchange {
  std::string method, path, client, id;
  int status = 0;  // 0: the client left before there was one
  int64_t bytes_in = 0, bytes_out = 0;
  double seconds = 0;
  bool cancelled = false;
  std::string text;  // the request's body, where it is kept
};

// Before the body is read: whether the request is let in, and the headers that its answer will carry in any case.
struct Admission {
  std::optional<Response> refusal;
  Headers headers = {};
  bool endless = false;  // the answer is a stream that has no deadline
};

struct TransportOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: one that is free
  TransportLimits limits = {};
  bool keep_text = false;  // Exchange has the request's body
  // All are called on the transport's thread and must return soon.
  std::function<Admission(Request& head)> admit;
  std::function<void(Request, std::shared_ptr<Reply>)> handle;
  std::function<void(const Exchange&)> finished;
  // What a refusal of the transport's own looks like: of a request that is too large, too slow or no HTTP (then its
  // method and path are empty). Without it: plain text.
  std::function<Response(const std::string& method, const std::string& path, int status, const std::string& message)>
      refusal;
};

class Transport {
 public:
  // Binds and listens; throws where it cannot. Connections are served from start() on.
  explicit Transport(TransportOptions options);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  int port() const;
  int64_t connections() const;
  int64_t requests() const;  // that are being read or answered

  void start();
  // Takes no new connections and requests, waits for those under way (a body that is being sent is one) for at most so
  // long, cancels the rest and ends.
  void stop(std::chrono::duration<double> grace);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A whole request from its bytes, by the parser that connections read with; nullopt where it is none. For tests and
// fuzzing.
std::optional<Request> parse_request(std::string_view bytes, const TransportLimits& limits);

}  // namespace limpid
