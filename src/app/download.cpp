#include "app/download.h"

#include <curl/curl.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "app/tar_member.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

struct Transfer {
  std::FILE* file = nullptr;
  int64_t there = 0;  // bytes in the file
  const std::function<bool(int64_t)>* progress = nullptr;
  bool stopped = false;
};

size_t take(char* data, size_t size, size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const size_t written = std::fwrite(data, size, count, transfer.file);
  transfer.there += static_cast<int64_t>(written * size);
  return written;
}

// Asked several times per second, whether anything comes or not; not 0: stop.
int go_on(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.stopped = transfer.stopped || !(*transfer.progress)(transfer.there);
  return transfer.stopped;
}

// Brings a file or the names in a folder to the disk.
void sync(const fs::path& path, const char* hint) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  check(file.get() >= 0 && (::fsync(file.get()) == 0 || errno == EINVAL), "[get] {}: cannot be brought to the disk: {}",
        path, hint);
}

int64_t size_of(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? -1 : static_cast<int64_t>(size);
}

// Brings what the part lacks. Where the server cannot go on from there the part stays as it is, and is not whole.
void fetch(const Download& file, const fs::path& part, const std::function<bool(int64_t)>& progress) {
  const int64_t before = std::max<int64_t>(size_of(part), 0);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(std::fopen(part.c_str(), before > 0 ? "r+b" : "wb"),
                                                               std::fclose);
  check(output != nullptr && std::fseek(output.get(), 0, SEEK_END) == 0,
        "[get] {}: cannot be written: look at its folder's owner, mode and free space", part);
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), curl_easy_cleanup);
  check(curl != nullptr, "[get] libcurl could not be started");
  Transfer transfer{output.get(), before, &progress};
  char reason[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_URL, file.url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, 20L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 10L);  // bytes per second, for so many seconds
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, 60L);
  curl_easy_setopt(curl.get(), CURLOPT_USERAGENT, "limpid/" LIMPID_VERSION);
  curl_easy_setopt(curl.get(), CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(before));
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, go_on);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &transfer);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  const CURLcode code = curl_easy_perform(curl.get());
  if (transfer.stopped) fail(ErrorKind::cancelled, "[get] stopped: the same command goes on");
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (before > 0 && code == CURLE_RANGE_ERROR) return;             // the server cannot resume
  if (code == CURLE_HTTP_RETURNED_ERROR && status == 416) return;  // all of it is there already
  check(code != CURLE_WRITE_ERROR, "[get] {}: cannot be written: is the disk full?", part);
  check(code == CURLE_OK, "[get] {}: {}", file.url, *reason ? reason : curl_easy_strerror(code));
  check(std::fflush(output.get()) == 0, "[get] {}: cannot be written: is the disk full?", part);
}

// All of the tarball, of which nobody says how long it is: the server does.
void fetch_tarball(const Download& file, const std::function<bool(int64_t)>& progress) {
  const fs::path tarball = tarball_of(file), part = tarball.string() + ".part";
  if (size_of(tarball) > 0) return;
  fetch(file, part, progress);
  fs::rename(part, tarball);
}

}  // namespace

fs::path tarball_of(const Download& file) {
  return file.path.parent_path() / ("." + fs::path(file.url).filename().string());
}

DownloadResult download(const Download& file, const std::function<bool(int64_t)>& progress) {
  if (size_of(file.path) == file.bytes && sha256_of_file(file.path) == file.sha256)
    return DownloadResult::already_there;
  fs::create_directories(file.path.parent_path());
  const fs::path part = file.path.string() + ".part";
  if (size_of(part) > file.bytes) fs::remove(part);
  const bool resumed = size_of(part) > 0;
  if (!file.member.empty()) {
    fetch_tarball(file, progress);
    extract_member(tarball_of(file), file.member, part, file.bytes);
  } else if (size_of(part) != file.bytes) {
    fetch(file, part, progress);
  }
  const bool whole = size_of(part) == file.bytes && sha256_of_file(part) == file.sha256;
  if (!whole) {
    const int64_t size = size_of(part);
    fs::remove(part);
    if (!file.member.empty()) fs::remove(tarball_of(file));
    if (resumed) return download(file, progress);  // a server that cannot resume, or the beginning of another file
    fail("[get] {}: is not the file that was expected ({} bytes instead of {}, or another SHA-256): nothing was kept",
         file.url, size, file.bytes);
  }
  sync(part, "is the disk full?");  // a name never stands for bytes that a power cut could still take away
  fs::rename(part, file.path);
  sync(file.path.parent_path(), "is it a network disk?");
  return DownloadResult::downloaded;
}

}  // namespace limpid
