#pragma once
// AppendFile: a file that grows piece by piece, each piece whole or not at all as far as a running process can see to
// it: when the disk is full or fails, the part of a piece that was written is cut off again.

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace limpid {

class AppendFile {
 public:
  explicit AppendFile(std::filesystem::path path);  // makes the file if there is none; writes go to its end
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  void append(std::string_view piece);
  void cut(int64_t size);  // to so many bytes
  void sync();             // to the disk, so that it survives a power cut

  const std::filesystem::path& path() const { return path_; }
  int64_t size() const { return size_; }  // bytes

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t size_ = 0;
};

}  // namespace limpid
