#include "text/token_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/error.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy = "the file is damaged: delete the folder it is in, it is made again from the text";
constexpr size_t kWaiting = 1 << 16;  // ids or entries kept in memory before they are written

fs::path with(fs::path path, const char* extension) { return path += extension; }

int open_file(const fs::path& path, int64_t unit, int64_t& count) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open())
    fail(errno == ENOENT ? ErrorKind::not_found : ErrorKind::io,
         "[tokens] {}: {}: delete the folder it is in, it is made again from the text", path.string(),
         std::strerror(errno));
  struct stat status {};
  check(fstat(file.get(), &status) == 0 && status.st_size % unit == 0, "[tokens] {}: {}", path, kRemedy);
  count = status.st_size / unit;
  return file.release();
}

void read_at(int file, void* into, size_t bytes, uint64_t offset, const fs::path& path) {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = pread(file, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ErrorKind::io, "[tokens] {}: {}", path.string(), std::strerror(errno));
    check(got > 0, "[tokens] {}: ends too early: was it changed?", path);
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
  check(example >= 0 && example < size_, "[tokens] {}: there is no example {} among {}", path_, example, size_);
  ExampleEntry entry;
  read_at(index_file_, &entry, sizeof entry, static_cast<uint64_t>(example) * sizeof entry, path_);
  return entry;
}

TokenExample TokenStore::example_of(const ExampleEntry& entry) const {
  const uint64_t all = static_cast<uint64_t>(tokens_), count = uint64_t{entry.first} + entry.second;
  check(entry.begin <= all && count <= all - entry.begin, "[tokens] {}: an example of {} ids from {} on among {}: {}",
        path_, count, entry.begin, all, kRemedy);
  const std::vector<int32_t> both = ids(static_cast<int64_t>(entry.begin), static_cast<int64_t>(count));
  const auto border = both.begin() + entry.first;
  return {{both.begin(), border}, {border, both.end()}};
}

std::vector<int32_t> TokenStore::ids(int64_t begin, int64_t count) const {
  check(begin >= 0 && count >= 0 && begin <= tokens_ && count <= tokens_ - begin,
        "[tokens] {}: there are no {} ids from {} on among {}", path_, count, begin, tokens_);
  std::vector<int32_t> result(count);
  read_at(tokens_file_, result.data(), result.size() * sizeof(int32_t), static_cast<uint64_t>(begin) * sizeof(int32_t),
          path_);
  return result;
}

void TokenStore::check_ids(int64_t first, int64_t second) const {
  std::vector<ExampleEntry> entries;
  int64_t at = 0;  // ids of the examples so far: they lie end to end
  for (int64_t begin = 0; begin < size_;) {
    entries.resize(static_cast<size_t>(std::min<int64_t>(kWaiting, size_ - begin)));
    read_at(index_file_, entries.data(), entries.size() * sizeof(ExampleEntry),
            static_cast<uint64_t>(begin) * sizeof(ExampleEntry), path_);
    size_t used = 0;
    int64_t count = 0;
    for (; used < entries.size() && count < static_cast<int64_t>(16 * kWaiting); ++used) {
      const ExampleEntry& entry = entries[used];
      check(entry.begin == static_cast<uint64_t>(at + count) &&
                int64_t{entry.first} + entry.second <= tokens_ - at - count,
            "[tokens] {}: example {} does not begin where the one before it ends: {}", path_,
            begin + static_cast<int64_t>(used), kRemedy);
      count += int64_t{entry.first} + entry.second;
    }
    const std::vector<int32_t> block = ids(at, count);
    const int32_t* id = block.data();
    const auto fits = [&](int64_t ids, int64_t limit) {
      const bool good = std::all_of(id, id + ids, [&](int32_t one) { return one >= 0 && one < limit; });
      id += ids;
      return good;
    };
    for (size_t i = 0; i < used; ++i, ++begin)
      check(fits(entries[i].first, first) && fits(entries[i].second, second),
            "[tokens] {}: example {} has an id that the vocabulary has not: {}", path_, begin, kRemedy);
    at += count;
  }
  check(at == tokens_, "[tokens] {}: its examples have {} ids, the file has {}: {}", path_, at, tokens_, kRemedy);
}

}  // namespace limpid
