#include "app/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/bus_error.h"
#include "app/ranks.h"
#include "app/terminal.h"
#include "app/version.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cluster/same_on_all.h"
#include "kernels/instruction_set.h"

namespace limpid {
namespace {

using Commands = std::span<const Command>;

void print_help(Commands commands) {
  fmt::print("Limpid: Transformers you can see through.\n\nUsage: {} COMMAND [options]\n\n", program_name());
  const int64_t width = terminal_width(STDOUT_FILENO);
  for (const Command& command : commands) fmt::print("  {:14} {}\n", command.name, wrapped(command.summary, width, 17));
  fmt::print("\n  -V, --version  version, build and instruction set in use\n\n{} help COMMAND says more.\n",
             program_name());
}

const Command* find(Commands commands, std::string_view name) {
  for (const Command& command : commands)
    if (name == command.name) return &command;
  return nullptr;
}

int unknown(Commands commands, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) names.emplace_back(command.name);
  const std::string meant = did_you_mean(name, names);
  fmt::print(stderr, "limpid: no command \"{}\"{} {} --help lists all.\n", name, meant.empty() ? "." : meant,
             program_name());
  return 2;
}

// limpid help COMMAND …: the command's own --help.
int help(Commands commands, int argc, char** argv) {
  const Command* command = find(commands, argv[2]);
  if (!command) return unknown(commands, argv[2]);
  std::vector<char*> words(argv + 2, argv + argc);
  static char flag[] = "--help";
  words.push_back(flag);
  words.push_back(nullptr);
  return command->run(static_cast<int>(words.size()) - 1, words.data());
}

int dispatch(Commands commands, int argc, char** argv) {
  check(kernels::kernels_run_here(),
        "[limpid] this program was built for another processor: remove build/release, and ./limpid builds it anew; "
        "-DLIMPID_THIS_PROCESSOR=OFF builds one for all");
  const std::string_view name = argc > 1 ? argv[1] : "--help";
  if (name == "--help" || name == "-h" || name == "help") {
    if (name == "help" && argc > 2) return help(commands, argc, argv);
    print_help(commands);
    return argc > 1 ? 0 : 2;
  }
  if (name == "--version" || name == "-V") {
    fmt::print("{}\n", version_text());
    return 0;
  }
  const Command* command = find(commands, name);
  return command ? command->run(argc - 1, argv + 1) : unknown(commands, name);
}

int run(Commands commands, int argc, char** argv) {
  try {
    return dispatch(commands, argc, argv);
  } catch (const ErrorOnAll& error) {
    say_for_all(error.what());
  } catch (const Error& error) {
    fmt::print(stderr, "limpid: {}{}\n", speaking_rank(), error.what());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "limpid: {}out of memory\n", speaking_rank());
  } catch (const std::system_error& error) {  // what is printed cannot be written, or the system gives no thread
    if (std::ferror(stdout) == 0)
      fmt::print(stderr, "limpid: {}{}: is the disk full, or a limit of the system reached?\n", speaking_rank(),
                 error.what());
  } catch (const std::exception& error) {
    if (std::ferror(stdout) == 0)
      fmt::print(stderr, "limpid: {}unexpected failure: {}\n", speaking_rank(), error.what());
  }
  return 1;
}

// Whether all that was printed has left the program. A full disk shows here: what is printed waits in a buffer.
bool output_is_out() {
  errno = 0;
  const bool out = static_cast<bool>(std::cout.flush()) && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!out)
    fmt::print(stderr, "limpid: {}the output could not be written{}: free some room or write elsewhere\n",
               speaking_rank(), errno != 0 ? ": " + std::generic_category().message(errno) : "");
  return out;
}

}  // namespace

int run_program(Commands commands, int argc, char** argv) {
  report_bus_errors();
  set_program_name(argc > 0 ? argv[0] : "");
  const int code = run(commands, argc, argv);
  return output_is_out() || code != 0 ? code : 1;
}

}  // namespace limpid
