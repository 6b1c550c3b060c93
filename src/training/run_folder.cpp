#include "training/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"
#include "training/checkpoint_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLockText = "limpid run, process ";

std::string lock_text(const fs::path& lock) {
  try {
    return read_text(lock);
  } catch (const Error&) {
    return {};
  }
}

// Whether a new run may begin here: nothing lies here but perhaps the lock of a run that starts at this moment.
bool holds_nothing(const fs::path& path) {
  std::error_code error;
  for (const fs::path& one : paths_in(path))
    if (one.filename() != "lock" || !fs::is_regular_file(one, error) || fs::file_size(one, error) > 0) return false;
  return true;
}

[[noreturn]] void fail_opening(const fs::path& path, int code) {
  const bool permission = code == EACCES || code == EPERM || code == EROFS;
  fail(ErrorKind::io, "[run] {}: cannot be used as a run's folder: {}: {}", path.string(),
       std::generic_category().message(code),
       permission ? "look at its owner and mode, or name another" : "name another");
}

// Whether the open file is still the one of that name.
bool is_at(int file, const fs::path& path) {
  struct stat mine {
  }, now{};
  return ::fstat(file, &mine) == 0 && ::stat(path.c_str(), &now) == 0 && mine.st_ino == now.st_ino &&
         mine.st_dev == now.st_dev;
}

// Opens and locks; nothing (-1) if the file was removed or replaced meanwhile, so that the lock would be of no use.
int try_lock(const fs::path& folder) {
  const fs::path path = folder / "lock";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);  // less the umask
  if (file < 0) fail_opening(folder, errno);
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(file);
    if (error != EWOULDBLOCK)
      fail(ErrorKind::io,
           "[run] {}: cannot be locked: {}: a network disk has to have locks, as NFS of version 4 has: mount it so, or "
           "name another folder",
           path.string(), std::generic_category().message(error));
    std::string other = lock_text(path);
    other = other.starts_with(kLockText) ? other.substr(kLockText.size(), other.find('\n') - kLockText.size()) : "?";
    fail("[run] {}: another run works in this folder, process {}: wait for it, end it, or name another folder",
         folder.string(), other);
  }
  if (is_at(file, path)) return file;
  ::close(file);
  return -1;
}

// Says who holds the lock, and that the folder is a run's. That it is held is the kernel's business, and ends with the
// process.
void sign(int file, const fs::path& folder) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"?"};
  const std::string text = fmt::format("{}{} on {}\n", kLockText, ::getpid(), host.data());
  const auto size = static_cast<ssize_t>(text.size());
  // To the disk at once, name included: it tells a run's folder from others, after a power cut too.
  const bool written = ::pwrite(file, text.data(), text.size(), 0) == size && ::ftruncate(file, size) == 0 &&
                       (::fsync(file) == 0 || errno != EIO);
  if (!written) fail_opening(folder, errno);
  const int names = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (names >= 0) ::fsync(names), ::close(names);
}

}  // namespace

bool is_run_folder(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return false;
  return lock_text(path / "lock").starts_with(kLockText) || !list_checkpoints(path / "checkpoints").empty();
}

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) fail_opening(path_, error.value());
  check(holds_nothing(path_) || is_run_folder(path_),
        "[run] {}: holds something else than a training run: name a new or empty folder", path_);
  while (lock_ < 0) lock_ = try_lock(path_);
  try {
    sign(lock_, path_);
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

RunFolder RunFolder::of_other_process(fs::path path) {
  RunFolder folder;
  folder.path_ = std::move(path);
  return folder;
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

RunFolder& RunFolder::operator=(RunFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

RunFolder::~RunFolder() {
  if (lock_ >= 0) ::close(lock_);
}

void RunFolder::check_held() const {
  check(lock_ < 0 || is_at(lock_, path_ / "lock"),
        "[run] {}: the folder was moved or its lock removed while the run worked in it; the run has stopped so that "
        "nothing is written twice: start it again in the folder where it is now, it goes on from its last checkpoint",
        path_);
}

bool RunFolder::has_checkpoint() const { return !list_checkpoints(checkpoints()).empty(); }

}  // namespace limpid
