#include "text/duplicates.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/checksum.h"
#include "base/error.h"

namespace limpid {
namespace {

constexpr int64_t kAtOnce = 1 << 20;  // hashes sorted in memory: 8 MB

}  // namespace

uint64_t text_hash(std::string_view first, std::string_view second) {
  ContentHash hash;
  for (const std::string_view part : {first, std::string_view("\t"), second}) hash.update(part);
  return hash.value();
}

DuplicateCounter::DuplicateCounter() : file_(std::tmpfile(), &std::fclose) {
  check(file_ != nullptr, "[data] cannot make a temporary file: {}", std::strerror(errno));
}

void DuplicateCounter::add(uint64_t hash) {
  check(std::fwrite(&hash, sizeof hash, 1, file_.get()) == 1, "[data] cannot write a temporary file: {}",
        std::strerror(errno));
  ++count_;
}

int64_t DuplicateCounter::duplicates() {
  const auto parts = static_cast<uint64_t>((count_ + kAtOnce - 1) / kAtOnce);
  std::vector<uint64_t> block(1 << 15), mine;
  int64_t result = 0;
  for (uint64_t part = 0; part < parts; ++part) {
    mine.clear();
    std::rewind(file_.get());
    for (size_t got = 1; got > 0;) {
      got = std::fread(block.data(), sizeof(uint64_t), block.size(), file_.get());
      std::copy_if(block.begin(), block.begin() + static_cast<ptrdiff_t>(got), std::back_inserter(mine),
                   [&](uint64_t hash) { return hash % parts == part; });
    }
    std::sort(mine.begin(), mine.end());
    result += static_cast<int64_t>(mine.end() - std::unique(mine.begin(), mine.end()));
  }
  return result;
}

}  // namespace limpid
