#pragma once
// Gunzip: unpacks gzip as its bytes come, all members of a stream one after the other.

#include <zlib.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace limpid {

class Gunzip {
 public:
  static bool is_gzip(std::string_view begin) { return begin.starts_with("\x1f\x8b"); }

  // `name`: of what is unpacked, for messages.
  explicit Gunzip(std::string name);
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;
  ~Gunzip();

  // The next bytes, valid until the next call; none at the end. `more` gives packed bytes where some are wanted, none
  // at the end of them. Damage is an Error that says after which line.
  std::string_view next(const std::function<std::string_view()>& more, int64_t line);

 private:
  std::string name_;
  z_stream stream_ = {};
  bool between_members_ = false;
  std::array<char, 1 << 16> buffer_;
};

}  // namespace limpid
