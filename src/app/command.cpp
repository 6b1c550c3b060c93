#include "app/command.h"

#include <fmt/format.h>

#include "base/parallel.h"

namespace limpid {

CommandLine::CommandLine(const std::string& name, const std::string& description, const std::string& example)
    : CLI::App(description + "\nExample: " + example, "limpid " + name) {
  add_option("--threads", threads_, "threads to compute with (0: one per core)")->check(CLI::Range(0, 1024));
}

std::optional<int> CommandLine::read(int argc, char** argv) {
  try {
    parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // help was asked for
      exit(error);
      return 0;
    }
    fmt::print(stderr, "{}: {}\nSee {} --help\n", get_name(), error.what(), get_name());
    return 2;
  }
  set_threads(threads_);
  return std::nullopt;
}

}  // namespace limpid
