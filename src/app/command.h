#pragma once
// The program is a table of commands, one file a command.

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace limpid {

struct Command {
  const char* name;
  const char* summary;                // one sentence
  int (*run)(int argc, char** argv);  // argv[0] is the command's name; returns the exit code
};

int run_demo(int argc, char** argv);
int run_verify(int argc, char** argv);
int run_params(int argc, char** argv);
int run_plan(int argc, char** argv);
int run_train(int argc, char** argv);
int run_data(int argc, char** argv);
int run_evaluate(int argc, char** argv);
int run_translate(int argc, char** argv);
int run_complete(int argc, char** argv);
int run_embed(int argc, char** argv);
int run_score(int argc, char** argv);
int run_classify(int argc, char** argv);
int run_tokenize(int argc, char** argv);
int run_look(int argc, char** argv);
int run_bench(int argc, char** argv);

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
