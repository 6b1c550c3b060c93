#include "app/command.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "base/parallel.h"

namespace limpid {
namespace {

void collect_options(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const CLI::App* sub : app.get_subcommands({})) collect_options(*sub, names);
}

// For the first option that nobody knows, the known one nearest to it.
std::string suggestion(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> names;
  collect_options(app, names);
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = std::string_view(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (word.starts_with("--") && std::find(known.begin(), known.end(), word) == known.end())
      return did_you_mean(word, known);
  }
  return "";
}

}  // namespace

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
    fmt::print(stderr, "{}: {}{}\nSee {} --help\n", get_name(), error.what(), suggestion(*this, argc, argv),
               get_name());
    return 2;
  }
  set_threads(threads_);
  return std::nullopt;
}

}  // namespace limpid
