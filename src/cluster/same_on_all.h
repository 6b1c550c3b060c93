#pragma once
// What has to be the same on all ranks before they may work together.

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cluster/courier.h"

namespace limpid {

// An Error that all ranks throw with the same text: one of them is enough to say it.
class ErrorOnAll : public Error {
 public:
  using Error::Error;
};

template <class... Args>
[[noreturn]] void fail_on_all(const Courier& ranks, fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  if (ranks.size() == 1) throw Error(text);
  throw ErrorOnAll(text);
}

// Something that each rank does for itself and that may fail: where one fails all do, with ErrorOnAll where all say the
// same. To be called on all ranks.
void together(Courier& ranks, const std::function<void()>& act);

using NamedFacts = std::vector<std::pair<std::string, std::string>>;  // what, and its value

// One line for each rank whose facts are not those of rank 0, with its host and what differs; the same on all ranks.
std::vector<std::string> differences_between_ranks(Courier& courier, const NamedFacts& facts);

// An ErrorOnAll where there are such.
void check_same_on_all(Courier& courier, const NamedFacts& facts);

}  // namespace limpid
