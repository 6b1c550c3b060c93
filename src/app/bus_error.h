#pragma once
// A mapped file that somebody shortens while it is in use: the next touch of what is gone raises SIGBUS.

namespace limpid {

// Says which file it was and ends the program with status 1, where a plain crash would say nothing.
void report_bus_errors();

}  // namespace limpid
