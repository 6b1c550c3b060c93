#pragma once
// Access: who may ask. A web page elsewhere must not drive a server on the user's own machine, neither by its own
// requests (Origin) nor by a name that it lets point here (Host); and a server that others can reach wants a key.

#include <string>
#include <string_view>
#include <vector>

#include "server/http.h"

namespace limpid {

struct AccessOptions {
  std::string host = "127.0.0.1";    // what the server is bound to
  std::vector<std::string> hosts;    // names by which it may be called besides; "*": any
  std::vector<std::string> origins;  // web pages that may ask besides its own, "https://example.org"; "*": any
  std::string key;                   // empty: none is asked for
  bool no_key = false;               // without a key though others can reach the server
};

bool is_loopback(std::string_view host);

class Access {
 public:
  // Throws where others could reach the server without a key and nobody has said that this is meant.
  explicit Access(AccessOptions options);

  // Throw HttpError where the request is not to be answered.
  void check_host(const Request& request) const;
  void check_origin(const Request& request) const;
  void check_key(const Request& request) const;  // "Authorization: Bearer KEY" or "X-Api-Key: KEY"

  bool has_key() const { return !options_.key.empty(); }
  // Takes the same time for every wrong key.
  bool is_key(std::string_view candidate) const;
  static std::string_view key_in_headers(const Request& request);

  // Headers that let the page at the request's origin read the answer; none where there is no such page.
  Headers cross_origin_headers(const Request& request) const;

 private:
  bool own_host(std::string_view host) const;
  bool allowed_origin(const Request& request, std::string_view origin) const;

  AccessOptions options_;
};

}  // namespace limpid
