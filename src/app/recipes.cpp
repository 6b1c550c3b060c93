// limpid recipes: what can be trained by name.

#include <fmt/format.h>
#include <unistd.h>

#include "app/command.h"
#include "app/data_store.h"
#include "app/recipe_file.h"
#include "app/terminal.h"
#include "base/error.h"
#include "training/recipe.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

// Which data it needs, and whether they are here.
std::string data_of(const Recipe& recipe) {
  if (recipe.data.train.empty()) return "yours";
  std::error_code none;
  const std::string& folder = recipe.data.folder;
  const bool here = fs::exists(folder, none) || fs::exists(data_store() / folder, none);
  return folder + (here ? " (here)" : "");
}

}  // namespace

int run_recipes(int argc, char** argv) {
  CommandLine line("recipes",
                   "Lists the recipes of limpid train: what they make, the data they need, the score they are known to "
                   "reach and the time it takes. limpid train RECIPE --dump-config prints every key of one.",
                   "limpid recipes");
  bool json = false;
  line.add_flag("--json", json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;

  const int64_t width = terminal_width(STDOUT_FILENO);
  for (const std::string& name : recipe_names()) {
    const fs::path file = fs::exists(fs::path("recipes") / (name + ".toml")) ? fs::path("recipes") / (name + ".toml")
                                                                             : recipe_folder() / (name + ".toml");
    const Recipe recipe = load_recipe(file);
    if (json) {
      fmt::print(
          "{}\n",
          nlohmann::ordered_json{
              {"name", name}, {"description", recipe.description}, {"data", recipe.data.folder}, {"note", recipe.note}}
              .dump());
      continue;
    }
    fmt::print("{}\n    {}\n    data: {}\n", name, wrapped(recipe.description, width, 4), data_of(recipe));
    if (!recipe.note.empty()) fmt::print("    {}\n", wrapped(recipe.note, width, 4));
  }
  return 0;
}

}  // namespace limpid
