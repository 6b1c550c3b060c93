#pragma once
// Questions about paths that answer by an Error, never by an exception of the standard library.

#include <filesystem>
#include <vector>

namespace limpid {

// Whether there is something at the path, and whether it is a folder. An Error where that cannot be found out: no
// permission to look, a name that is too long.
bool path_exists(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

// What lies in a folder, in the order of the names; nothing where there is no such folder.
std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder);

// Gives what is at `from` the name `to`, in place of what had it.
void move_path(const std::filesystem::path& from, const std::filesystem::path& to);
// Removes a file, or a folder with all that is in it; it need not be there.
void remove_path(const std::filesystem::path& path);

// The path from the root of the disk on, without "." and "..".
std::filesystem::path absolute_path(const std::filesystem::path& path);

}  // namespace limpid
