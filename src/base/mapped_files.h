#pragma once
// Which file lies mapped at an address: what a handler of SIGBUS asks, when somebody has shortened a file that is in
// use.

namespace limpid {

// The path of the MappedFile that this address lies in; null: none. Safe to call in a signal handler.
const char* mapped_file_at(const void* address);

}  // namespace limpid
