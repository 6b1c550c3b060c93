#pragma once
// The border of the library: what memory that runs out and the JSON library throw becomes an Error there, so that a
// program has one exception to catch. Those of a program's own callbacks pass through as they are.

#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error.h"

namespace limpid {

// Runs what a function of the library does.
template <class Work>
decltype(auto) as_errors(const Work& work) {
  constexpr const char* kMemory =
      "[memory] there is not enough memory for this: take fewer or shorter texts at once, a smaller batch or a smaller "
      "model";
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw Error(kMemory, ErrorKind::out_of_memory);
  } catch (const std::length_error&) {  // more than any memory could hold
    throw Error(kMemory, ErrorKind::out_of_memory);
  } catch (const nlohmann::json::exception& error) {
    fail("[json] a value is missing or of another kind than expected: {}", error.what());
  }
}

}  // namespace limpid
