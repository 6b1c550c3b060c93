#include "base/paths.h"

#include <algorithm>
#include <system_error>

#include "base/error.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

fs::file_type type_of(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type == fs::file_type::none)  // what is not there is a type of its own
    fail(ErrorKind::io, "[file] {}: cannot be looked at: {}: is the name right, and may you read its folder?",
         path.string(), error.message());
  return type;
}

}  // namespace

bool path_exists(const fs::path& path) { return type_of(path) != fs::file_type::not_found; }
bool is_folder(const fs::path& path) { return type_of(path) == fs::file_type::directory; }

std::vector<fs::path> paths_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) paths.push_back(at->path());
  if (error && error != std::errc::no_such_file_or_directory)
    fail(ErrorKind::io, "[file] {}: cannot be listed: {}: look at its owner and mode", folder.string(),
         error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void move_path(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error)
    fail(ErrorKind::io, "[file] {}: cannot be renamed to {}: {}: look at the folder's owner and mode", from.string(),
         to.filename().string(), error.message());
}

void remove_path(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error)
    fail(ErrorKind::io, "[file] {}: cannot be removed: {}: look at its owner and mode, or remove it by hand",
         path.string(), error.message());
}

fs::path absolute_path(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  if (error) fail(ErrorKind::io, "[file] {}: the folder it is in is not known: {}", path.string(), error.message());
  return whole.lexically_normal();
}

}  // namespace limpid
