#pragma once
// What all commands have in common.

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace limpid {

// A command's parser with what all commands have: --help with an example that works as printed, --threads.
class CommandLine : public CLI::App {
 public:
  CommandLine(const std::string& name, const std::string& description, const std::string& example);

  // Reads the arguments. Returns an exit code where the command should end at once (help, wrong usage).
  std::optional<int> read(int argc, char** argv);

 private:
  int threads_ = 0;
};

}  // namespace limpid
