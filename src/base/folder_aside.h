#pragma once
// FolderAside: a folder put together beside its place, which it takes at once when all of it is there. What lay there
// before, stale files included, goes as a whole; without put_in_place() nothing changes and nothing remains.

#include <filesystem>

namespace limpid {

class FolderAside {
 public:
  explicit FolderAside(std::filesystem::path place);  // makes the folders above it where they do not exist
  FolderAside(const FolderAside&) = delete;
  FolderAside& operator=(const FolderAside&) = delete;
  ~FolderAside();

  const std::filesystem::path& path() const { return path_; }  // where to write
  void put_in_place();

 private:
  std::filesystem::path place_, path_;
};

}  // namespace limpid
