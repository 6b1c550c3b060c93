#include "base/paths.h"

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

}  // namespace limpid
