#pragma once
// A recipe by its path, or by its name in the folder recipes/ here or of the project.

#include <string>
#include <vector>

#include "training/recipe.h"

namespace limpid {

Recipe open_recipe(const std::string& name, const std::vector<std::string>& overrides);

}  // namespace limpid
