#pragma once
// Where recipes are: a path, or a name in the folder recipes/ here or of the project.

#include <filesystem>
#include <string>

namespace limpid {

std::filesystem::path find_recipe(const std::string& name);

}  // namespace limpid
