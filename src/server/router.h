#pragma once
// Router: which handler answers which request. A pattern is a path with {names}, each of which stands for one part of
// a path ("/v1/models/{id}"); a last part "{name...}" for all that is left, slashes included.

#include <functional>
#include <string>
#include <vector>

#include "server/http.h"

namespace limpid {

enum class ErrorShape {
  openai,  // {"error": {"message", "type", "param", "code"}}
  plain,   // {"error": "message"}
};

struct RouteOptions {
  std::string summary = {};  // one sentence for /openapi.json; empty: the route is not listed there
  // What it takes, as "text:string top:integer prompt:any!": the fields of its JSON body ("!": must be there; a route
  // that declares some is given no others) and those of its query. Types are JSON's, and strings, integers (lists; one
  // alone counts as a list), any.
  std::string fields = {}, query = {};
  std::vector<std::string> gives = {"application/json"};  // types of its answers
  ErrorShape errors = ErrorShape::openai;
  bool needs_key = true;     // where the server has one
  bool key_in_body = false;  // the handler itself looks for the key where the headers have none
  bool heavy = false;        // may compute for long: waits for one of the few threads kept for such work
  bool at_once = false;  // neither computes nor waits: answered by the transport's own thread, however busy others are
  bool endless = false;  // a stream that goes on as long as somebody listens: it has no deadline
};

struct Route {
  std::string method, pattern;
  Handler handler;
  RouteOptions options;
};

class Router {
 public:
  // For handlers that stream or answer later, from a thread of their own.
  void add(std::string method, std::string pattern, Handler handler, RouteOptions options = {});
  // For handlers that return the answer.
  void add(std::string method, std::string pattern, std::function<Response(const Request&)> handler,
           RouteOptions options = {});

  struct Match {
    const Route* route = nullptr;  // null: none
    std::map<std::string, std::string> parameters;
    std::string allowed;  // methods that the path has, where there is no route for this one
  };
  // The path as it was sent: it is split before it is decoded, so that "a%2Fb" is one part of it. HEAD takes the route
  // of GET.
  Match find(const std::string& method, const std::string& path) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

// What an exception is to a client: the library says what is wrong with what it was given.
HttpError as_http_error(const std::exception& error);

// What a refusal looks like to the client.
Response error_response(const HttpError& error, ErrorShape shape);

}  // namespace limpid
