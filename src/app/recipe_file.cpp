#include "app/recipe_file.h"

#include <algorithm>
#include <set>

#include "app/data_store.h"
#include "base/error.h"
#include "base/nearest.h"
#include "training/dataset.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

// Of the source tree that the program was built in, and of where it is installed.
std::vector<fs::path> own_folders() {
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  return {LIMPID_RECIPES, program.parent_path().parent_path() / "share" / "limpid" / "recipes"};
}

std::vector<fs::path> all_folders() {
  std::vector<fs::path> folders = own_folders();
  folders.insert(folders.begin(), "recipes");
  return folders;
}

}  // namespace

fs::path find_recipe(const std::string& name) {
  std::error_code none;
  if (fs::is_regular_file(name, none)) return name;
  for (const fs::path& folder : all_folders())
    for (const std::string& file : {name, name + ".toml"})
      if (fs::is_regular_file(folder / file, none)) return folder / file;
  const std::vector<std::string> known = recipe_names();
  const std::vector<std::string_view> views(known.begin(), known.end());
  fail("[recipe] there is no recipe {}{}; there are: {}", name, did_you_mean(name, views),
       known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
}

fs::path recipe_folder() {
  std::error_code none;
  for (const fs::path& folder : own_folders())
    if (fs::is_directory(folder, none)) return folder;
  fail("[recipe] the folder of the recipes is not found: it should be {}", own_folders().back().string());
}

std::vector<std::string> recipe_names() {
  std::set<std::string> names;
  std::error_code none;
  for (const fs::path& folder : all_folders())
    for (fs::directory_iterator it(folder, none), end; !none && it != end; it.increment(none))
      if (it->path().extension() == ".toml") names.insert(it->path().stem().string());
  return {names.begin(), names.end()};
}

Recipe open_recipe(const std::string& name, const std::vector<std::string>& overrides) {
  Recipe recipe = load_recipe(find_recipe(name), overrides);
  check_model(recipe);
  if (!recipe.data.folder.empty()) recipe.data.folder = find_data(recipe.data.folder).string();
  return recipe;
}

}  // namespace limpid
