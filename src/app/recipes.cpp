// limpid recipes: what can be trained by name.

#include <fmt/format.h>
#include <unistd.h>

#include "app/command.h"
#include "app/data_store.h"
#include "app/recipe_file.h"
#include "app/terminal.h"
#include "base/error.h"
#include "inspect/display_text.h"
#include "training/recipe.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

struct Listed {
  std::string name;
  Recipe recipe;
  bool here = false;  // its data are
};

bool has_data(const Recipe& recipe) {
  std::error_code none;
  const std::string& folder = recipe.data.folder;
  return !folder.empty() && (fs::exists(folder, none) || is_here(folder, read_manifest()));
}

std::string data_of(const Listed& listed) {
  return listed.recipe.data.folder.empty() ? "your text" : listed.recipe.data.folder + (listed.here ? " *" : "");
}

// A file of this name that is no recipe belongs to somebody else: it is left out, and the list goes on.
std::vector<Listed> read_recipes(const std::vector<std::string>& names) {
  std::vector<Listed> list;
  for (const std::string& name : names) {
    try {
      const Recipe recipe = load_recipe(find_recipe(name));
      list.push_back({name, recipe, has_data(recipe)});
    } catch (const Error& error) {
      fmt::print(stderr, "limpid recipes: {} is left out: {}\n", name, error.what());
    }
  }
  return list;
}

void print_json(const Listed& one) {
  const Recipe& recipe = one.recipe;
  fmt::print("{}\n", nlohmann::ordered_json{{"name", one.name},
                                            {"description", recipe.description},
                                            {"data", recipe.data.folder},
                                            {"here", one.here},
                                            {"time", recipe.time},
                                            {"score", recipe.score},
                                            {"note", recipe.note}}
                         .dump());
}

// One line each, as wide as the names need: 80 columns with those of the project.
void print_table(const std::vector<Listed>& list) {
  int64_t name = 6, data = 4;
  for (const Listed& one : list) {
    name = std::max(name, display_width(one.name));
    data = std::max(data, display_width(data_of(one)));
  }
  const auto row = [&](const std::string& first, const std::string& second, const std::string& time,
                       const std::string& score) {
    std::string line = pad_right(first, name) + ' ' + pad_right(second, data) + ' ' + pad_right(time, 6) + ' ' + score;
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  };
  row("recipe", "data", "time", "score");
  for (const Listed& one : list) row(one.name, data_of(one), one.recipe.time, one.recipe.score);
  const std::string more =
      fmt::format("* is here. {0} recipes NAME says more; {0} get and {0} data bring data.", program_name());
  fmt::print("{}\n", wrapped(more, terminal_width(STDOUT_FILENO), 0));
}

void print_details(const Listed& one) {
  const int64_t width = terminal_width(STDOUT_FILENO);
  fmt::print("{}\n    {}\n    data: {}\n", one.name, wrapped(one.recipe.description, width, 4),
             one.recipe.data.folder.empty() ? "yours" : one.recipe.data.folder + (one.here ? " (here)" : ""));
  for (const std::string& text : {one.recipe.time, one.recipe.score, one.recipe.note})
    if (!text.empty()) fmt::print("    {}\n", wrapped(text, width, 4));
}

}  // namespace

int run_recipes(int argc, char** argv) {
  CommandLine line("recipes",
                   "Lists the recipes of limpid train: the data they need, the time they take and the score they are "
                   "known to reach. limpid train RECIPE --dump-config prints every key of one.",
                   "limpid recipes\n         limpid recipes translate");
  std::vector<std::string> names;
  bool json = false;
  line.add_option("NAME", names, "say more of these");
  line.add_flag("--json", json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;
  for (const std::string& name : names) static_cast<void>(find_recipe(name));  // says what there is instead

  const std::vector<Listed> list = read_recipes(names.empty() ? recipe_names() : names);
  if (!json && names.empty()) {
    print_table(list);
    return 0;
  }
  for (const Listed& one : list) json ? print_json(one) : print_details(one);
  return 0;
}

}  // namespace limpid
