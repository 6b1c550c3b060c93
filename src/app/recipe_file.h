#pragma once
// Recipes by path or by name: in the folder recipes/ here, of the project, or beside the installed program.

#include <filesystem>
#include <string>
#include <vector>

#include "training/recipe.h"

namespace limpid {

// The recipe with its data where they are found (app/data_store.h).
Recipe open_recipe(const std::string& name, const std::vector<std::string>& overrides);

// By path or by name. An Error where there is none, with those that there are.
std::filesystem::path find_recipe(const std::string& name);

// The folder of the recipes that come with the program. An Error where there is none.
std::filesystem::path recipe_folder();
std::vector<std::string> recipe_names();  // sorted

}  // namespace limpid
