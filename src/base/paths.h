#pragma once
// Questions about paths that answer by an Error, never by an exception of the standard library.

#include <filesystem>

namespace limpid {

// Whether there is something at the path, and whether it is a folder. An Error where that cannot be found out: no
// permission to look, a name that is too long.
bool path_exists(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

}  // namespace limpid
