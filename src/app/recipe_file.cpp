#include "app/recipe_file.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/nearest.h"
#include "training/dataset.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

fs::path find_recipe(const std::string& name) {
  std::error_code none;
  if (fs::is_regular_file(name, none)) return name;
  std::vector<std::string> known;
  for (const fs::path& folder : {fs::path("recipes"), fs::path(LIMPID_RECIPES)}) {
    for (const std::string& file : {name, name + ".toml"})
      if (fs::is_regular_file(folder / file, none)) return folder / file;
    if (!known.empty()) continue;
    for (fs::directory_iterator it(folder, none), end; !none && it != end; it.increment(none))
      if (it->path().extension() == ".toml") known.push_back(it->path().stem().string());
  }
  std::sort(known.begin(), known.end());
  const std::vector<std::string_view> views(known.begin(), known.end());
  std::string list;
  for (const std::string& recipe : known) list.append(list.empty() ? "" : ", ").append(recipe);
  fail("[recipe] there is no recipe {}{}; there are: {}", name, did_you_mean(name, views),
       list.empty() ? "none" : list);
}

}  // namespace

Recipe open_recipe(const std::string& name, const std::vector<std::string>& overrides) {
  Recipe recipe = load_recipe(find_recipe(name), overrides);
  check_model(recipe);
  return recipe;
}

}  // namespace limpid
