#pragma once
// A folder that is removed with everything in it at the end.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace limpid {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "limpid-XXXXXX").string();
    check(::mkdtemp(name.data()) != nullptr,
          "[file] {}: cannot be created: is the folder for temporary files writable?", name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace limpid
