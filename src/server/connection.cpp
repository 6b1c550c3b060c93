#include "server/connection.h"
#include "base/seconds_since.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <ctime>

namespace limpid {
namespace {

namespace http = boost::beast::http;

constexpr size_t kReadAhead = 64 << 10;  // of requests that a client sends before it has its answer
// A handler tells of its deadline in its own way; one that has not begun, or does not look at the time, is told of so
// much later.
constexpr TransportLimits::Seconds kAfterDeadline{0.25};

std::string_view to_view(boost::beast::string_view text) { return {text.data(), text.size()}; }

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

Response plain_refusal(int status, const std::string& message) {
  return {status, message + "\n", "text/plain; charset=utf-8"};
}

using Message = http::request<http::string_body>;

// The head of a request as handlers see it. False: its target is no path.
bool read_message(const Message& message, Request& request) {
  request.method = std::string(to_view(message.method_string()));
  for (const auto& field : message)
    request.headers.emplace_back(lower(to_view(field.name_string())), std::string(to_view(field.value())));
  return parse_target(to_view(message.target()), request);
}

// Of the calling thread, while it lets answers wait for each other.
thread_local bool holds_answers = false;
thread_local std::vector<std::shared_ptr<PendingAnswer>> held_answers;

// What a handler holds. When the last copy is gone there is nobody left who could answer.
class Handle : public Reply {
 public:
  explicit Handle(std::shared_ptr<PendingAnswer> answer) : answer_(std::move(answer)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() override { answer_->abandon(); }

  void send(Response response) override { answer_->send(std::move(response)); }
  void begin(Response head) override { answer_->begin(std::move(head)); }
  bool write(std::string part) override { return answer_->write(std::move(part)); }
  void end() override { answer_->end(); }
  bool begun() const override { return answer_->begun(); }
  bool cancelled() const override { return answer_->cancelled(); }
  void on_cancel(std::function<void()> callback) override { answer_->on_cancel(std::move(callback)); }

 private:
  std::shared_ptr<PendingAnswer> answer_;
};

}  // namespace

RepliesTogether::RepliesTogether() { holds_answers = true; }

RepliesTogether::~RepliesTogether() {
  holds_answers = false;
  PendingAnswer::flush_together(std::exchange(held_answers, {}));
}

Response Shared::refusal(const std::string& method, const std::string& path, int status,
                         const std::string& message) const {
  return options.refusal ? options.refusal(method, path, status, message) : plain_refusal(status, message);
}

// ---- PendingAnswer

PendingAnswer::PendingAnswer(std::shared_ptr<Connection> connection, Exchange exchange, Headers headers, bool head_only,
                             bool chunked, bool keep_alive)
    : connection_(connection),
      shared_(connection->shared()),
      io_(connection->shared().io),
      most_unsent_(connection->shared().options.limits.unsent_bytes),
      exchange_(std::move(exchange)),
      headers_(std::move(headers)),
      head_only_(head_only),
      chunked_(chunked),
      keep_alive_(keep_alive) {}

std::string PendingAnswer::head_of(const Response& response, std::optional<size_t> length) const {
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status, reason_of(response.status), date_now());
  if (!response.content_type.empty()) head += fmt::format("Content-Type: {}\r\n", response.content_type);
  for (const Headers* list : {&headers_, &response.headers})
    for (const auto& [name, value] : *list)
      if (value.find_first_of("\r\n") == std::string::npos) head += fmt::format("{}: {}\r\n", name, value);
  if (length)
    head += response.status == 204 ? std::string() : fmt::format("Content-Length: {}\r\n", *length);
  else if (chunked_)
    head += "Transfer-Encoding: chunked\r\n";
  head += keep_alive_ ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

void PendingAnswer::put(std::string bytes) {
  unsent_bytes_ += static_cast<int64_t>(bytes.size());
  if (!bytes.empty()) unsent_.push_back(std::move(bytes));
  if (told_) return;
  told_ = true;
  if (holds_answers) return held_answers.push_back(shared_from_this());
  asio::post(io_, [connection = connection_] {
    if (const auto there = connection.lock()) there->flush();
  });
}

void PendingAnswer::flush_together(std::vector<std::shared_ptr<PendingAnswer>> answers) {
  while (!answers.empty()) {  // one round, unless there are several transports
    asio::io_context& io = answers[0]->io_;
    const auto others =
        std::stable_partition(answers.begin(), answers.end(), [&](const auto& answer) { return &answer->io_ == &io; });
    std::vector<std::shared_ptr<PendingAnswer>> rest(others, answers.end());
    answers.erase(others, answers.end());
    asio::post(io, [answers = std::move(answers)] {
      for (const auto& answer : answers)
        if (const auto there = answer->connection_.lock()) there->flush();
    });
    answers = std::move(rest);
  }
}

void PendingAnswer::send(Response response) {
  const std::lock_guard lock(mutex_);
  if (begun_) return;
  begun_ = ended_ = true;
  exchange_.status = response.status;
  put(head_of(response, response.body.size()));
  if (!head_only_) put(std::move(response.body));
}

void PendingAnswer::begin(Response head) {
  {
    const std::lock_guard lock(mutex_);
    if (begun_) return;
    begun_ = true;
    if (!chunked_) keep_alive_ = false;
    exchange_.status = head.status;
    put(head_of(head, std::nullopt));
  }
  if (!head.body.empty()) write(std::move(head.body));
}

bool PendingAnswer::write(std::string part) {
  if (cancelled()) return false;
  bool overrun = false;
  {
    const std::lock_guard lock(mutex_);
    if (!begun_ || ended_ || head_only_) return !ended_;
    if (part.empty()) return true;
    overrun = unsent_bytes_ + static_cast<int64_t>(part.size()) > most_unsent_;
    if (!overrun) put(chunked_ ? fmt::format("{:x}\r\n", part.size()) + part + "\r\n" : std::move(part));
  }
  if (overrun) {
    asio::post(io_, [connection = connection_] {
      if (const auto there = connection.lock()) there->close();
    });
    cancel();
  }
  return !overrun;
}

void PendingAnswer::end() { end_stream(!cancelled()); }

void PendingAnswer::abandon() {
  if (!begun()) {  // whoever is still there to read it after a cancellation: the server ends
    const Exchange asked = exchange();
    send(shared_.refusal(asked.method, asked.path, asked.cancelled ? 503 : 500,
                         asked.cancelled ? "The server is stopping." : "The request was dropped without an answer."));
  }
  end_stream(false);
}

// A stream that is not whole lacks its last chunk, so that the client does not take it for one that is.
void PendingAnswer::end_stream(bool whole) {
  const std::lock_guard lock(mutex_);
  if (!begun_ || ended_) return;
  ended_ = true;
  keep_alive_ = keep_alive_ && whole;
  put(whole && chunked_ && !head_only_ ? "0\r\n\r\n" : "");
}

bool PendingAnswer::begun() const {
  const std::lock_guard lock(mutex_);
  return begun_;
}

void PendingAnswer::on_cancel(std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!cancelled()) {
      callback_ = std::move(callback);
      return;
    }
  }
  callback();
}

void PendingAnswer::cancel() {
  std::function<void()> callback;
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_.exchange(true)) return;
    callback = std::move(callback_);
  }
  if (callback) callback();
}

Exchange PendingAnswer::exchange() const {
  const std::lock_guard lock(mutex_);
  Exchange result = exchange_;
  result.seconds = seconds_since(since_);
  result.cancelled = cancelled();
  return result;
}

PendingAnswer::Outgoing PendingAnswer::take() {
  const std::lock_guard lock(mutex_);
  told_ = false;
  for (const std::string& part : unsent_) exchange_.bytes_out += static_cast<int64_t>(part.size());
  unsent_bytes_ = 0;
  return {std::exchange(unsent_, {}), ended_};
}

// ---- Connection

Connection::Connection(Shared& shared, asio::ip::tcp::socket socket)
    : shared_(shared),
      socket_(std::move(socket)),
      timer_(shared.io),
      write_timer_(shared.io),
      buffer_(2 * kReadAhead + static_cast<size_t>(shared.options.limits.header_bytes)) {
  ++shared_.connections;
  Code ignored;
  socket_.non_blocking(true, ignored);
}

Connection::~Connection() {
  --shared_.connections;
  shared_.open.erase(this);
}

void Connection::start() {
  Code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  await_request();
}

// One timer for what the connection waits for; setting it anew forgets what it was set for before.
void Connection::arm(TransportLimits::Seconds seconds, std::function<void()> then) {
  timer_.expires_after(std::chrono::duration_cast<std::chrono::milliseconds>(seconds));
  timer_.async_wait([self = shared_from_this(), number = ++timer_number_, act = std::move(then)](Code code) {
    if (!code && number == self->timer_number_ && !self->closed_) act();
  });
}

void Connection::forget_timer() {
  ++timer_number_;
  timer_.cancel();
}

void Connection::stop_reading() {
  Code ignored;
  socket_.cancel(ignored);
}

void Connection::await_request() {
  if (shared_.closing) return close();
  idle_ = true;
  if (buffer_.size() > 0) return read_head();
  arm(shared_.options.limits.idle, [this] { close(); });
  socket_.async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this()](Code code) {
    if (code || self->closed_) return self->close();
    self->read_head();
  });
}

void Connection::read_head() {
  const TransportLimits& limits = shared_.options.limits;
  parser_.emplace();
  request_ = {};
  parser_->header_limit(static_cast<uint32_t>(limits.header_bytes));
  parser_->body_limit(static_cast<uint64_t>(limits.body_bytes));
  timed_out_ = false;
  arm(limits.head, [this] {
    timed_out_ = true;
    stop_reading();
  });
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](Code code, size_t) { self->on_head(code); });
}

void Connection::on_head(Code code) {
  if (code) return refuse_unread(code);
  idle_ = false;
  const auto& message = parser_->get();
  Code ignored;
  request_.client = socket_.remote_endpoint(ignored).address().to_string();
  if (!read_message(message, request_)) return refuse(400, "The request's target is no path.");
  Admission admission = shared_.options.admit ? shared_.options.admit(request_) : Admission{};
  answer_headers_ = std::move(admission.headers);
  endless_ = admission.endless;
  set_under_way(true);
  if (admission.refusal) return refuse(std::move(*admission.refusal));
  read_body();
}

void Connection::read_body() {
  timed_out_ = false;
  arm(shared_.options.limits.body, [this] {
    timed_out_ = true;
    stop_reading();
  });
  const auto read = [self = shared_from_this()] {
    http::async_read(self->socket_, self->buffer_, *self->parser_, [self](Code code, size_t) { self->on_body(code); });
  };
  if (lower(request_.header("expect")) != "100-continue" || parser_->is_done()) return read();
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(kContinue), [read, self = shared_from_this()](Code code, size_t) {
    if (code) return self->close();
    read();
  });
}

void Connection::on_body(Code code) {
  if (code) return refuse_unread(code);
  request_.body = std::move(parser_->get().body());
  dispatch();
}

// A request that cannot be read to its end.
void Connection::refuse_unread(Code code) {
  if (closed_) return;
  if (cut_) return refuse(503, "The server is stopping.");
  if (timed_out_) return refuse(408, "The request did not arrive in time.");
  if (code == http::error::body_limit)
    return refuse(413, fmt::format("The body is larger than the {} bytes allowed.", shared_.options.limits.body_bytes));
  if (code == http::error::header_limit || code == http::error::buffer_overflow)
    return refuse(
        431, fmt::format("The headers are larger than the {} bytes allowed.", shared_.options.limits.header_bytes));
  if (code == http::error::end_of_stream || code == http::error::partial_message ||
      code.category() != http::make_error_code(http::error::end_of_stream).category())
    return close();
  if (code == http::error::bad_version) return refuse(505, "HTTP/1.0 and HTTP/1.1 are understood here.");
  refuse(400, "The request is not HTTP: " + code.message());
}

// The connection ends with this answer, since what follows it may be the rest of the request.
void Connection::refuse(Response response) {
  refused_ = true;
  const bool head_only = request_.method == "HEAD";
  answer_ = std::make_shared<PendingAnswer>(shared_from_this(),
                                            Exchange{request_.method, request_.path, request_.client, request_.id},
                                            std::exchange(answer_headers_, {}), head_only, true, false);
  set_under_way(true);
  arm(shared_.options.limits.write, [this] { close(); });
  answer_->send(std::move(response));
}

void Connection::refuse(int status, const std::string& message) {
  refuse(shared_.refusal(request_.method, request_.path, status, message));
}

void Connection::refuse_and_close(int status, const std::string& message, Headers headers) {
  Response response = shared_.refusal("", "", status, message);
  response.headers = std::move(headers);
  refuse(std::move(response));
}

void Connection::dispatch() {
  const auto& message = parser_->get();
  const bool modern = message.version() >= 11;
  Exchange exchange{request_.method, request_.path, request_.client, request_.id};
  exchange.bytes_in = static_cast<int64_t>(request_.body.size());
  if (shared_.options.keep_text) exchange.text = request_.body;
  answer_ =
      std::make_shared<PendingAnswer>(shared_from_this(), std::move(exchange), std::exchange(answer_headers_, {}),
                                      request_.method == "HEAD", modern, message.keep_alive() && !shared_.closing);
  if (endless_)
    forget_timer();
  else
    arm_deadline();
  parser_.reset();
  auto reply = std::make_shared<Handle>(answer_);
  watch();
  shared_.options.handle(std::move(request_), std::move(reply));
}

void Connection::arm_deadline() {
  const TransportLimits::Seconds allowed = shared_.options.limits.request;
  request_.deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::milliseconds>(allowed);
  arm(allowed + kAfterDeadline, [this, allowed] {
    const bool told = answer_->begun();
    const Exchange asked = answer_->exchange();
    answer_->send(
        shared_.refusal(asked.method, asked.path, 408,
                        fmt::format("The request took longer than the {} seconds allowed.", allowed.count())));
    answer_->cancel();
    if (told) close();
  });
}

// While the answer is made: reads on, to notice a client that leaves. What it sends is its next request.
void Connection::watch() {
  if (watching_ || closed_ || buffer_.size() >= kReadAhead) return;
  watching_ = true;
  socket_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](Code code, size_t bytes) {
    self->watching_ = false;
    self->buffer_.commit(bytes);
    if (self->refused_) self->buffer_.clear();
    if (std::exchange(self->next_after_watch_, false)) {
      if (code && code != asio::error::operation_aborted) return self->close();
      return self->await_request();
    }
    if (code) return self->close();
    self->watch();
  });
}

void Connection::flush() {
  if (busy_writing_ || closed_ || !answer_) return;
  PendingAnswer::Outgoing out = answer_->take();
  last_part_ = out.last;
  writing_ = std::move(out.parts);
  if (writing_.empty()) {
    if (last_part_) finish();
    return;
  }
  std::vector<asio::const_buffer> buffers;
  for (const std::string& part : writing_) buffers.emplace_back(asio::buffer(part));
  if (written_at_once(buffers)) {
    if (last_part_) finish();
    return;
  }
  busy_writing_ = true;
  write_timer_.expires_after(std::chrono::duration_cast<std::chrono::milliseconds>(shared_.options.limits.write));
  write_timer_.async_wait([self = shared_from_this()](Code code) {
    if (!code && self->busy_writing_) self->close();
  });
  asio::async_write(socket_, buffers, [self = shared_from_this()](Code code, size_t) { self->written(code); });
}

// Most often the system takes a token's few bytes at once: then nothing needs to be waited for. Else `buffers` is what
// is left.
bool Connection::written_at_once(std::vector<asio::const_buffer>& buffers) {
  Code code;
  size_t bytes = socket_.write_some(buffers, code);
  if (code) return false;  // the system's buffer is full, or what waits will be told of the error
  size_t whole = 0;
  while (whole < buffers.size() && bytes >= buffers[whole].size()) bytes -= buffers[whole++].size();
  buffers.erase(buffers.begin(), buffers.begin() + static_cast<ptrdiff_t>(whole));
  if (!buffers.empty()) buffers[0] += bytes;
  return buffers.empty();
}

void Connection::written(Code code) {
  busy_writing_ = false;
  write_timer_.cancel();
  if (closed_) return;
  if (code) return close();
  if (last_part_) return finish();
  flush();
}

// The answer is out.
void Connection::finish() {
  const std::shared_ptr<PendingAnswer> answer = std::move(answer_);
  answer_.reset();
  set_under_way(false);
  if (shared_.options.finished) shared_.options.finished(answer->exchange());
  if (closed_) return;
  if (refused_ || !answer->keep_alive()) return linger();
  if (!watching_) return await_request();
  next_after_watch_ = true;
  stop_reading();
}

// Closes so that the client still reads the answer: what it goes on to send is thrown away for a moment.
void Connection::linger() {
  Code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  arm(TransportLimits::Seconds(1), [this] { close(); });
  buffer_.clear();
  if (watching_) return;  // reads until the other side closes
  watch();
}

void Connection::set_under_way(bool is) {
  if (std::exchange(under_way_, is) != is) shared_.requests += is ? 1 : -1;
}

void Connection::close() {
  if (std::exchange(closed_, true)) return;
  if (answer_) answer_->cancel();
  Code ignored;
  socket_.close(ignored);
  timer_.cancel();
  write_timer_.cancel();
  if (answer_) finish();
  set_under_way(false);
}

void Connection::cancel_answer() {
  if (answer_) return answer_->cancel();
  if (!under_way_) return;
  cut_ = true;  // its body is being read
  stop_reading();
}

void Connection::close_if_idle() {
  if (!answer_ && idle_) close();
}

std::optional<Request> parse_request(std::string_view bytes, const TransportLimits& limits) {
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<uint32_t>(limits.header_bytes));
  parser.body_limit(static_cast<uint64_t>(limits.body_bytes));
  parser.eager(true);
  boost::system::error_code code;
  while (!parser.is_done() && !bytes.empty()) {
    const size_t used = parser.put(asio::buffer(bytes), code);
    if (code || used == 0) return std::nullopt;
    bytes.remove_prefix(used);
  }
  Request request;
  if (!parser.is_done() || !read_message(parser.get(), request)) return std::nullopt;
  request.body = std::move(parser.get().body());
  return request;
}

}  // namespace limpid
