#pragma once
// Errors: the library never prints, exits or aborts; it throws Error, and app/ reports.

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace limpid {

// What a program does about an error: a server answers by it, nobody takes the text apart.
enum class ErrorKind {
  bad_input,      // what the caller asks for, or a file, is wrong
  unsupported,    // right, but not among what Limpid can do
  not_found,      // a file, model or name that is not there
  out_of_memory,  // the machine's memory, or what was allowed
  io,             // reading or writing failed: disk full, no permission
  cancelled,      // somebody wanted it to stop
  internal        // Limpid's own mistake
};

// What went wrong and what to do about it. The text begins with where: "[safetensors] header says …: truncated
// download?"
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& text, ErrorKind kind = ErrorKind::bad_input)
      : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...), kind);
}

// A part of a message: the value given, what the function given returns, or the text of a path.
template <class Part>
decltype(auto) message_part(const Part& part) {
  if constexpr (std::is_invocable_v<const Part&>)
    return part();
  else if constexpr (requires { part.root_name().string(); })
    return part.string();
  else
    return (part);
}
template <class Part>
using MessagePart = std::remove_cvref_t<decltype(message_part(std::declval<const Part&>()))>;

// Throws Error with the formatted text unless the condition holds: for what a caller or a file can get wrong. A part of
// the text that costs something, or exists only where the condition fails, is given as a function, which is called only
// then: check(found != end, "[names] there is no {}", [&] { return nearest(name); }). A path is given as it is.
template <class... Parts>
void check(bool condition, fmt::format_string<MessagePart<Parts>...> format, const Parts&... parts) {
  if (!condition) [[unlikely]]
    throw Error(fmt::vformat(format, fmt::make_format_args(message_part(parts)...)));
}

}  // namespace limpid
