#include "app/help.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "app/terminal.h"
#include "inspect/display_text.h"

namespace limpid {
namespace {

constexpr int64_t kNames = 26;  // columns of an option's names; longer ones have a line of their own

int64_t page_width() { return std::clamp<int64_t>(terminal_width(STDOUT_FILENO), 40, 110); }

// The kind of a value in one word, from what the option accepts.
std::string value_word(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  const size_t list = type.find('{');
  if (list != std::string::npos) {  // one of some words
    std::string words = type.substr(list + 1, type.find('}', list) - list - 1);
    if (words.size() <= 44) {
      for (char& c : words)
        if (c == ',') c = '|';
      return words;
    }
    return "WORD";
  }
  if (type.find("FLOAT") != std::string::npos) return "NUMBER";
  if (type.find("INT") != std::string::npos) return "N";
  return "TEXT";
}

std::string names_of(const CLI::Option& option) {
  const std::string more = option.get_expected_max() > 1 ? " …" : "";
  std::string names;
  if (option.get_positional()) {  // some may be given by name too
    names = option.get_name(true) + more;
    for (const std::string& name : option.get_lnames()) names += ", --" + name;
    return names;
  }
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  const std::string word = value_word(option);
  if (!word.empty()) names += ' ' + word + more;
  return names;
}

std::string entry(const std::string& names, const std::string& text) {
  std::string result = "  " + names;
  if (text.empty()) return result + '\n';
  if (display_width(names) + 4 > kNames)
    result += '\n' + std::string(kNames, ' ');
  else
    result += std::string(static_cast<size_t>(kNames - 2 - display_width(names)), ' ');
  return result + wrapped(text, page_width(), kNames) + '\n';
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::string text = paragraphs(app->get_description());
    text += "\nUsage: " + wrapped(usage(app), page_width(), 7) + '\n';
    text += options_of(app, "Arguments", [](const CLI::Option& option) { return option.get_positional(); });
    std::vector<std::string> groups = app->get_groups();
    for (const std::string& group : groups) {
      if (group.empty()) continue;
      text += options_of(app, group, [&](const CLI::Option& option) {
        return !option.get_positional() && option.get_group() == group;
      });
    }
    const auto parts = app->get_subcommands([](const CLI::App* part) { return !part->get_group().empty(); });
    if (!parts.empty()) text += "\nSubcommands\n";
    for (const CLI::App* part : parts) text += entry(part->get_name(), first_line(part->get_description()));
    return text;
  }

 private:
  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  // Sentences wrap; examples stay as they are, so that they can be copied.
  static std::string paragraphs(const std::string& text) {
    const size_t example = text.find("\nExample: ");
    std::string result = wrapped(text.substr(0, example), page_width(), 0) + '\n';
    if (example == std::string::npos) return result;
    std::string lines = text.substr(example + 10);
    result += lines.find('\n') == std::string::npos ? "\nExample\n" : "\nExamples\n";
    for (size_t begin = 0; begin <= lines.size();) {
      const size_t end = std::min(lines.find('\n', begin), lines.size());
      const size_t word = lines.find_first_not_of(' ', begin);
      std::string line = lines.substr(std::min(word, end), end - std::min(word, end));
      if (line.starts_with("limpid ")) line = program_name() + line.substr(6);
      result += "  " + line + '\n';
      begin = end + 1;
    }
    return result;
  }

  static std::string usage(const CLI::App* app) {
    std::string name, arguments;
    for (const CLI::App* at = app; at; at = at->get_parent()) {
      std::string own;
      for (const CLI::Option* option : at->get_options())
        if (option->get_positional()) {
          const std::string word = option->get_name(true) + (option->get_expected_max() > 1 ? " …" : "");
          own += option->get_required() ? ' ' + word : " [" + word + ']';
        }
      name = at->get_name() + own + (name.empty() ? "" : ' ' + name);
    }
    if (name.starts_with("limpid ")) name = program_name() + name.substr(6);
    if (!app->get_subcommands([](const CLI::App*) { return true; }).empty()) name += " SUBCOMMAND";
    return name + " [options]";
  }

  template <class Wanted>
  static std::string options_of(const CLI::App* app, const std::string& title, const Wanted& wanted) {
    std::string text;
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_group().empty() || !wanted(*option)) continue;
      std::string about = option->get_description();
      const std::string usual = option->get_default_str();
      if (!usual.empty() && about.find("(default") == std::string::npos) about += fmt::format(" (default: {})", usual);
      if (option->get_required() && !option->get_positional()) about += " (required)";
      text += entry(names_of(*option), about);
    }
    return text.empty() ? "" : '\n' + title + '\n' + text;
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace limpid
