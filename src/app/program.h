#pragma once
// limpid COMMAND …: the program is a table of commands. Finds the command and reports what goes wrong.

#include <span>

namespace limpid {

struct Command {
  const char* name;
  const char* summary;                // one sentence
  int (*run)(int argc, char** argv);  // argv[0] is the command's name; returns the exit code
};

// Returns the exit code.
int run_program(std::span<const Command> commands, int argc, char** argv);

}  // namespace limpid
