#include "training/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace limpid {
namespace {

[[noreturn]] void fail_appending(const std::filesystem::path& path, int code) {
  const char* const hint = code == ENOSPC || code == EDQUOT                   ? "free some room on the disk"
                           : code == EACCES || code == EPERM || code == EROFS ? "look at its owner and mode"
                           : code == ENOENT || code == ENOTDIR                ? "does its folder exist?"
                                                                              : "is the disk in order?";
  fail(ErrorKind::io, "[file] {}: cannot be written: {}: {}", path.string(), std::generic_category().message(code),
       hint);
}

}  // namespace

AppendFile::AppendFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);  // less the umask
  if (descriptor_ < 0) fail_appending(path_, errno);
  struct stat status {};
  const int error = ::fstat(descriptor_, &status) != 0 ? errno : 0;
  if (error != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    fail_appending(path_, error != 0 ? error : EINVAL);
  }
  size_ = status.st_size;
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::append(std::string_view piece) {
  size_t done = 0;
  while (done < piece.size()) {
    const ssize_t written = ::write(descriptor_, piece.data() + done, piece.size() - done);
    if (written >= 0) {
      done += static_cast<size_t>(written);
    } else if (errno != EINTR) {
      const int error = errno;
      if (done > 0) (void)!::ftruncate(descriptor_, size_);  // the first fault is the one to report
      fail_appending(path_, error);
    }
  }
  size_ += static_cast<int64_t>(piece.size());
}

void AppendFile::cut(int64_t size) {
  if (::ftruncate(descriptor_, size) != 0) fail_appending(path_, errno);
  size_ = size;
}

void AppendFile::sync() {
  if (::fsync(descriptor_) != 0) fail_appending(path_, errno);
}

}  // namespace limpid
