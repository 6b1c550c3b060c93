#include "base/folder_aside.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "base/error.h"
#include "base/paths.h"

namespace limpid {

namespace fs = std::filesystem;

FolderAside::FolderAside(fs::path place) : place_(absolute_path(place)) {
  if (!place_.has_filename()) place_ = place_.parent_path();  // a slash at its end
  std::error_code error;
  if (fs::is_symlink(place_, error)) place_ = fs::weakly_canonical(place_, error);  // the link stays one
  path_ = place_.parent_path() / fmt::format(".{}.{}", place_.filename().string(), ::getpid());
  remove_path(path_);
  fs::create_directories(path_, error);
  if (error)
    fail(ErrorKind::io, "[folder] {}: cannot be made: {}: name another place", place_.string(), error.message());
}

FolderAside::~FolderAside() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void FolderAside::put_in_place() {
  const fs::path former = path_.string() + ".old";
  const bool replaces = path_exists(place_);
  if (replaces) {
    remove_path(former);
    move_path(place_, former);
  }
  try {
    move_path(path_, place_);
  } catch (const Error&) {
    if (replaces) move_path(former, place_);
    throw;
  }
  if (replaces) remove_path(former);
}

}  // namespace limpid
