#include "text/token_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr size_t kWaiting = 1 << 16;  // ids or entries kept in memory before they are written

fs::path with(fs::path path, const char* extension) { return path += extension; }

int open_file(const fs::path& path, int64_t unit, int64_t& count) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check(file >= 0, "[tokens] {}: {}: delete the folder it is in, it is made again from the text", path.string(),
        std::strerror(errno));
  struct stat status {};
  check(fstat(file, &status) == 0 && status.st_size % unit == 0,
        "[tokens] {}: is damaged: delete the folder it is in, it is made again from the text", path.string());
  count = status.st_size / unit;
  return file;
}

void read_at(int file, void* into, size_t bytes, uint64_t offset, const fs::path& path) {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = pread(file, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    check(got > 0, "[tokens] {}: {}", path.string(),
          got == 0 ? "ends too early: was it changed?" : std::strerror(errno));
    at += got;
    bytes -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
}

}  // namespace

TokenStoreWriter::TokenStoreWriter(const fs::path& path)
    : tokens_(with(path, ".tokens")), index_(with(path, ".index")) {}

void TokenStoreWriter::add(std::span<const int32_t> first, std::span<const int32_t> second) {
  entries_.push_back({written_, static_cast<uint32_t>(first.size()), static_cast<uint32_t>(second.size())});
  ids_.insert(ids_.end(), first.begin(), first.end());
  ids_.insert(ids_.end(), second.begin(), second.end());
  written_ += first.size() + second.size();
  if (ids_.size() >= kWaiting || entries_.size() >= kWaiting) flush();
}

void TokenStoreWriter::flush() {
  tokens_.write(std::as_bytes(std::span(ids_)));
  index_.write(std::as_bytes(std::span(entries_)));
  ids_.clear();
  entries_.clear();
}

void TokenStoreWriter::commit() {
  flush();
  tokens_.commit();
  index_.commit();
}

TokenStore::TokenStore(const fs::path& path)
    : path_(path),
      tokens_file_(open_file(with(path, ".tokens"), sizeof(int32_t), tokens_)),
      index_file_(open_file(with(path, ".index"), sizeof(ExampleEntry), size_)) {}

TokenStore::~TokenStore() {
  close(tokens_file_);
  close(index_file_);
}

ExampleEntry TokenStore::entry(int64_t example) const {
  ExampleEntry entry;
  read_at(index_file_, &entry, sizeof entry, static_cast<uint64_t>(example) * sizeof entry, path_);
  return entry;
}

TokenExample TokenStore::example_of(const ExampleEntry& entry) const {
  const std::vector<int32_t> both = ids(static_cast<int64_t>(entry.begin), entry.first + entry.second);
  const auto border = both.begin() + entry.first;
  return {{both.begin(), border}, {border, both.end()}};
}

std::vector<int32_t> TokenStore::ids(int64_t begin, int64_t count) const {
  std::vector<int32_t> result(count);
  read_at(tokens_file_, result.data(), result.size() * sizeof(int32_t), static_cast<uint64_t>(begin) * sizeof(int32_t),
          path_);
  return result;
}

}  // namespace limpid
