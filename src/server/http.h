#pragma once
// HTTP as handlers see it: a request, a response, and the reply that takes one. No HTTP library shows through.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace limpid {

std::string lower(std::string_view text);  // of ASCII letters

using Deadline = std::chrono::steady_clock::time_point;
using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;
  std::string path;                               // as it was sent, without the query; begins with "/"
  std::map<std::string, std::string> query;       // percent-decoded; of a name given twice the last value
  Headers headers;                                // names in lower case
  std::string body;                               // whole; bounded by the server's limit
  std::map<std::string, std::string> parameters;  // what stood in place of the {names} of the pattern, percent-decoded
  std::string_view fields = {};                   // that its route takes in the body (RouteOptions); empty: any
  std::string client;                             // address of the other side
  std::string id;                                 // also sent back as X-Request-Id
  std::optional<Deadline> deadline;               // by when it must be answered

  // Empty where there is none; names in lower case.
  std::string_view header(std::string_view name) const;
  std::string_view parameter(const std::string& name) const;
};

struct Response {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  Headers headers = {};
};

// Where the answer to one request goes. Any thread may use it, one at a time or several. A reply that is dropped
// without an answer becomes a 500.
class Reply {
 public:
  virtual ~Reply() = default;

  // A whole answer; at most one.
  virtual void send(Response response) = 0;

  // Or a stream: its head (whose body is the first part), parts, the end. write() never blocks; it returns false once
  // the client has left, or where it reads so slowly that more than the server's limit lies waiting for it.
  virtual void begin(Response head) = 0;
  virtual bool write(std::string part) = 0;
  virtual void end() = 0;
  virtual bool begun() const = 0;  // send() or begin() was called

  // The client has left, the time is over or the server ends: nobody wants the answer any more. Long work asks this
  // between its steps; on_cancel is called once, on any thread, at once where it has happened already.
  virtual bool cancelled() const = 0;
  virtual void on_cancel(std::function<void()> callback) = 0;
};

// While it lives, what replies are given on the calling thread is sent together at its end: the thread that sends is
// woken once. Not to be nested.
class RepliesTogether {
 public:
  RepliesTogether();
  ~RepliesTogether();
  RepliesTogether(const RepliesTogether&) = delete;
  RepliesTogether& operator=(const RepliesTogether&) = delete;
};

using Handler = std::function<void(const Request&, std::shared_ptr<Reply>)>;

// A refusal. Handlers throw it; the route's way of telling errors makes a response of it.
class HttpError : public Error {
 public:
  struct Details {
    std::string param = {};  // the field of the request that is wrong
    std::string code = {};   // a word for programs
    Headers headers = {};
    int64_t length = 0, limit = 0;  // of what is too long: how long, and what is allowed
  };
  HttpError(int status, const std::string& message) : Error(message), status_(status) {}
  HttpError(int status, const std::string& message, Details details)
      : Error(message), status_(status), details_(std::move(details)) {}

  int status() const { return status_; }
  const Details& details() const { return details_; }

 private:
  int status_;
  Details details_;
};

// "Not Found" of 404, …
std::string_view reason_of(int status);

// nullopt: a stray or cut "%". In queries and forms "+" is a space.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space = false);
// name=value&name=value
std::optional<std::map<std::string, std::string>> parse_form(std::string_view text);
// Splits a request's target into path and query. False: it is none.
bool parse_target(std::string_view target, Request& request);

// Server-sent events: the head of such a stream, and one event of it. The data may have several lines.
Response event_stream_head();
std::string event_text(std::string_view data, std::string_view event = {});

}  // namespace limpid
