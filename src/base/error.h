#pragma once
// Errors: the library never prints, exits or aborts; it throws Error, and app/ reports.

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace limpid {

// What went wrong and what to do about it. The text begins with where: "[safetensors] header says …: truncated
// download?"
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

// Throws Error with the formatted text unless the condition holds: for what a caller or a file can get wrong.
template <class... Args>
void check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]]
    fail(format, std::forward<Args>(args)...);
}

}  // namespace limpid
