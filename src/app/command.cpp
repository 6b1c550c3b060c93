#include "app/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "app/help.h"
#include "app/ranks.h"
#include "app/terminal.h"
#include "base/nearest.h"
#include "base/parallel.h"

namespace limpid {
namespace {

void collect_options(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const CLI::App* sub : app.get_subcommands({})) collect_options(*sub, names);
}

// What the parser says of a value out of its range has all digits of a double: 309 of them for "no limit".
std::string readable(std::string text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) || text[end] == '.')) ++end;
    const bool number = end > i && (i == 0 || !std::isalnum(static_cast<unsigned char>(text[i - 1])));
    if (!number) {
      result += text[i++];
      continue;
    }
    std::string digits = text.substr(i, end - i);
    const bool point = digits.back() == '.';  // the end of a sentence
    if (point) digits.pop_back();
    result += digits.size() > 9 || digits.find(".0") != std::string::npos
                  ? fmt::format("{:g}", std::strtod(digits.c_str(), nullptr))
                  : digits;
    if (point) result += '.';
    i = end;
  }
  return result;
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

struct Renamed {
  const char* before;
  const char* now;
};

// Names of options that have become others. The old ones go on working and say so.
constexpr Renamed kRenamed[] = {{"--texts-at-once", "--batch-size"},
                                {"--batch", "--batch-size"},
                                {"--log-probabilities", "--logprobs"},
                                {"--draws", "--resamples"},
                                {"--max-length", "--max-tokens"},
                                {"--sample", "--samples=1"},
                                {"--file", "--text"},
                                {"--write", "--out"}};

// The subcommand that the first of the words that can names, or else the command itself.
const CLI::App& named_command(const CLI::App& app, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    for (const CLI::App* sub : app.get_subcommands({}))
      if (sub->get_name() == word) return *sub;
  return app;
}

// The arguments with new names for old ones, where the command has the new one and not the old.
std::vector<std::string> with_new_names(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> names, words(argv + 1, argv + argc);
  for (const CLI::App* at = &named_command(app, words); at; at = at->get_parent())  // its options and its command's
    for (const CLI::Option* option : at->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const auto known = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name.substr(0, name.find('='))) != names.end();
  };
  for (std::string& word : words)
    for (const Renamed& option : kRenamed) {
      const bool same = word == option.before || word.starts_with(std::string(option.before) + '=');
      if (!same || known(option.before) || !known(option.now)) continue;
      fmt::print(stderr, "{}: {} is now called {}\n", app.get_name(), option.before, option.now);
      word.replace(0, std::string_view(option.before).size(), option.now);
    }
  std::reverse(words.begin(), words.end());  // as the parser wants them
  return words;
}

}  // namespace

CommandLine::CommandLine(const std::string& name, const std::string& description, const std::string& example)
    : CLI::App(description + "\nExample: " + example, "limpid " + name) {
  formatter(help_formatter());
  set_help_flag("-h,--help", "this page");
  add_option("--threads", threads_,
             "threads to compute with (0: one per core; under mpirun, this rank's share of them)")
      ->check(CLI::Range(0, 1024));
}

std::optional<int> CommandLine::read(int argc, char** argv) {
  try {
    parse(with_new_names(*this, argc, argv));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // help was asked for
      exit(error);
      return 0;
    }
    const std::string command = get_name().substr(get_name().find(' ') + 1);
    fmt::print(stderr, "{}: {}{}\nSee {} {} --help\n", get_name(), readable(error.what()),
               suggestion(*this, argc, argv), program_name(), command);
    return 2;
  }
  set_threads(threads_ > 0 ? threads_ : threads_of_rank());
  return std::nullopt;
}

}  // namespace limpid
