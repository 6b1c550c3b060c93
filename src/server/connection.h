#pragma once
// Connection: one client, from accept to close. Private to the transport: this header brings Boost with it.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <atomic>
#include <deque>
#include <mutex>

#include "server/transport.h"

namespace limpid {

namespace asio = boost::asio;

class Connection;
struct Shared;

// One request and its answer while it is under way. Replies on any thread put bytes in; the connection takes them out
// on the transport's thread.
class PendingAnswer : public std::enable_shared_from_this<PendingAnswer> {
 public:
  PendingAnswer(std::shared_ptr<Connection> connection, Exchange exchange, Headers headers, bool head_only,
                bool chunked, bool keep_alive);

  void send(Response response);
  void begin(Response head);
  bool write(std::string part);
  void end();
  void abandon();  // the reply is gone
  bool begun() const;
  bool cancelled() const { return cancelled_.load(); }
  void on_cancel(std::function<void()> callback);
  void cancel();

  struct Outgoing {
    std::vector<std::string> parts;
    bool last = false;
  };
  Outgoing take();  // what has come since the last time
  // Each one's connection comes for what there is.
  static void flush_together(std::vector<std::shared_ptr<PendingAnswer>> answers);
  bool keep_alive() const { return keep_alive_; }
  Exchange exchange() const;

 private:
  std::string head_of(const Response& response, std::optional<size_t> length) const;
  void end_stream(bool whole);
  void put(std::string bytes);  // with the lock held

  const std::weak_ptr<Connection> connection_;
  const Shared& shared_;
  asio::io_context& io_;
  const int64_t most_unsent_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  Exchange exchange_;
  Headers headers_;
  const bool head_only_;  // HEAD: no body
  const bool chunked_;    // false: HTTP/1.0, where a stream ends with the connection
  bool keep_alive_;
  std::vector<std::string> unsent_;
  int64_t unsent_bytes_ = 0;
  bool begun_ = false, ended_ = false, told_ = false;  // told_: the connection will come for what is there
  std::atomic<bool> cancelled_ = false;
  std::function<void()> callback_;
};

// What all connections share. Lives on the transport's thread, but for the counters.
struct Shared {
  TransportOptions options;
  asio::io_context io{1};
  std::atomic<int64_t> connections = 0, requests = 0;
  std::atomic<bool> closing = false;  // no further requests
  std::map<Connection*, std::weak_ptr<Connection>> open;

  Response refusal(const std::string& method, const std::string& path, int status, const std::string& message) const;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shared& shared, asio::ip::tcp::socket socket);
  ~Connection();

  void start();
  void refuse_and_close(int status, const std::string& message, Headers headers);  // instead of start()
  void close();
  void cancel_answer();  // what is under way ends: its reader is gone, or the server is about to be
  void close_if_idle();
  void flush();  // the answer has something to send
  Shared& shared() { return shared_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using Code = boost::system::error_code;

  void await_request();
  void stop_reading();
  void read_head();
  void on_head(Code code);
  void read_body();
  void on_body(Code code);
  void dispatch();
  void watch();
  bool written_at_once(std::vector<asio::const_buffer>& buffers);
  void written(Code code);
  void finish();
  void set_under_way(bool is);
  void refuse(Response response);
  void refuse(int status, const std::string& message);
  void refuse_unread(Code code);
  void linger();
  void arm(TransportLimits::Seconds seconds, std::function<void()> then);
  void arm_deadline();
  void forget_timer();

  Shared& shared_;
  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_, write_timer_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  Request request_;
  Headers answer_headers_;
  std::shared_ptr<PendingAnswer> answer_;
  std::vector<std::string> writing_;
  int64_t timer_number_ = 0;
  bool busy_writing_ = false, last_part_ = false, watching_ = false, next_after_watch_ = false;
  bool timed_out_ = false, closed_ = false, refused_ = false, idle_ = true;
  bool under_way_ = false, endless_ = false, cut_ = false;  // the request: counted; without a deadline; the server ends
};

}  // namespace limpid
