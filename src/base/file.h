#pragma once
// Files: read-only memory maps, whole texts, and writes that either happen entirely or not at all.
// Every failure is an Error that begins "[file] path:" and says what to do.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace limpid {

// A file's bytes mapped into memory, read only: pages come from disk when first touched and are shared by every process
// that maps the file. Somebody who shortens the file meanwhile makes the next touch a SIGBUS; AtomicFile never does
// that, it puts a new file in the old one's place and the map keeps the old bytes.
class MappedFile {
 public:
  explicit MappedFile(std::filesystem::path path);  // an empty file is an Error too
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::filesystem::path& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

// The whole of a text file, or of a pipe until its end.
std::string read_text(const std::filesystem::path& path);

// A file being written beside its final place: same folder, another name. commit() brings it to the disk and renames
// it, so that after a crash or a full disk the path holds either the old bytes or the new ones. Without commit()
// nothing remains. A symbolic link at the path is replaced, not followed; an existing file's permissions are kept.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit();

 private:
  void close();

  std::filesystem::path path_;
  std::filesystem::path folder_;
  std::filesystem::path temporary_;  // empty once it has got its final name
  int descriptor_ = -1;
  uint64_t written_ = 0;  // bytes
};

// Writes a whole text atomically.
void write_text(const std::filesystem::path& path, std::string_view text);

// "812 bytes", "9.3 MB": decimal units, for messages.
std::string bytes_text(uint64_t bytes);

}  // namespace limpid
