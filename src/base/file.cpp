#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/mapped_files.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_reading(const fs::path& path, int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR: fail(ErrorKind::not_found, "[file] {}: there is no such file: is the name right?", path.string());
    case EACCES:
    case EPERM:
      fail(ErrorKind::io, "[file] {}: no permission to read it: look at its owner and mode with ls -l", path.string());
    case EISDIR: fail("[file] {}: is a folder: name a file in it", path.string());
    default: fail(ErrorKind::io, "[file] {}: cannot be read: {}", path.string(), std::generic_category().message(code));
  }
}

[[noreturn]] void fail_writing(const fs::path& path, int code, uint64_t written) {
  switch (code) {
    case ENOENT:
    case ENOTDIR: fail(ErrorKind::not_found, "[file] {}: its folder does not exist: create it first", path.string());
    case EACCES:
    case EPERM:
    case EROFS:
      fail(ErrorKind::io, "[file] {}: no permission to write there: look at the folder's owner and mode",
           path.string());
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      fail(ErrorKind::io,
           "[file] {}: {} after {}; the old file, if any, is as it was: free some room or write elsewhere",
           path.string(),
           code == ENOSPC   ? "the disk is full"
           : code == EDQUOT ? "your disk quota is used up"
                            : "the limit on a file's size is reached",
           bytes_text(written));
    default:
      fail(ErrorKind::io, "[file] {}: cannot be written: {}", path.string(), std::generic_category().message(code));
  }
}

// Opens to read. Not blocking, or a named pipe without a writer would hold us for ever; regular files do not care.
int open_to_read(const fs::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (descriptor < 0) fail_reading(path, errno);
  return descriptor;
}

// A new file in the folder under a name that nobody uses: (its name, its descriptor).
std::pair<fs::path, int> create_aside(const fs::path& folder, const fs::path& path) {
  static std::atomic<int> counter = 0;
  for (;;) {
    fs::path name = folder / fmt::format(".limpid-{}-{}.part", ::getpid(), counter++);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);  // less the umask
    if (descriptor >= 0) return {std::move(name), descriptor};
    if (errno != EEXIST) fail_writing(path, errno, 0);
  }
}

// The files mapped now, where a signal handler can read them. Those beyond the table go unnamed.
struct MappedRegion {
  std::atomic<uintptr_t> begin = 0, end = 0;  // no end: not in use
  std::atomic<bool> taken = false;
  char path[512] = {};
};
MappedRegion mapped_regions[256];

void remember_mapped(std::span<const std::byte> bytes, const fs::path& path) {
  for (MappedRegion& region : mapped_regions) {
    if (region.taken.exchange(true)) continue;
    path.string().copy(region.path, sizeof region.path - 1);
    region.begin = reinterpret_cast<uintptr_t>(bytes.data());
    region.end = region.begin + bytes.size();
    return;
  }
}

void forget_mapped(std::span<const std::byte> bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  for (MappedRegion& region : mapped_regions) {
    if (region.begin != begin || region.end != begin + bytes.size()) continue;
    region.end = region.begin = 0;
    std::fill(std::begin(region.path), std::end(region.path), '\0');
    region.taken = false;
    return;
  }
}

}  // namespace

const char* mapped_file_at(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const MappedRegion& region : mapped_regions)
    if (region.begin <= at && at < region.end) return region.path;
  return nullptr;
}

MappedFile::MappedFile(fs::path path) : path_(std::move(path)) {
  const Descriptor file(open_to_read(path_, O_NONBLOCK));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_reading(path_, errno);
  if (S_ISDIR(status.st_mode)) fail_reading(path_, EISDIR);
  check(S_ISREG(status.st_mode), "[file] {}: is a device or pipe: only a regular file can be mapped", path_);
  check(status.st_size > 0, "[file] {}: is empty: was its download or its writing cut short?", path_);
  const auto size = static_cast<size_t>(status.st_size);
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) fail_reading(path_, errno);
  bytes_ = {static_cast<const std::byte*>(data), size};
  remember_mapped(bytes_, path_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  forget_mapped(bytes_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::string read_text(const fs::path& path) {
  const Descriptor file(open_to_read(path, 0));
  struct stat status {};
  std::string text;
  if (::fstat(file.get(), &status) == 0 && status.st_size > 0) text.reserve(static_cast<size_t>(status.st_size));
  std::array<char, 1 << 16> piece;
  for (;;) {  // until the end, not the size: pipes and /proc do not know theirs
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got == 0) return text;
    if (got > 0) text.append(piece.data(), static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) fail_reading(path, errno);
  }
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  folder_ = path_.has_parent_path() ? path_.parent_path() : ".";
  struct stat status {};
  const bool replaces = ::stat(path_.c_str(), &status) == 0;
  check(path_.has_filename() && !(replaces && S_ISDIR(status.st_mode)), "[file] {}: is a folder: name a file in it",
        path_);
  check(!replaces || S_ISREG(status.st_mode), "[file] {}: is a device or pipe, which cannot be replaced", path_);
  check(!replaces || ::access(path_.c_str(), W_OK) == 0,
        "[file] {}: is write-protected: chmod +w it, or name another file", path_);
  std::tie(temporary_, descriptor_) = create_aside(folder_, path_);
  if (replaces) ::fchmod(descriptor_, status.st_mode & 0777);  // kept if we may
}

AtomicFile::~AtomicFile() { close(); }

void AtomicFile::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  check(descriptor_ >= 0, "[file] {}: is written already: write before commit()", path_);
  constexpr size_t kPiece = 1 << 30;  // Linux takes at most 2 GB per call
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kPiece));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_writing(path_, errno, written_);
    written_ += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
}

void AtomicFile::commit() {
  check(descriptor_ >= 0, "[file] {}: is written already: commit() once", path_);
  if (::fsync(descriptor_) != 0) fail_writing(path_, errno, written_);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_writing(path_, errno, written_);  // network disks report here
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_writing(path_, errno, written_);
  temporary_.clear();
  // The new name is on the disk only when the folder is. Some file systems cannot say; a real fault is EIO.
  const Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.open() && ::fsync(folder.get()) != 0 && errno == EIO) fail_writing(path_, errno, written_);
}

void write_text(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  constexpr std::array kUnits = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < kUnits.size(); ++unit) value /= 1000;  // 999.95 would print as 1000.0
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace limpid
