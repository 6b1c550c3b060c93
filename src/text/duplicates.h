#pragma once
// Counts how many examples of a corpus are repeated, exactly (up to a chance of 2^-64 per pair) and in constant memory:
// the hashes wait on disk and are sorted a part at a time.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

namespace limpid {

uint64_t text_hash(std::string_view first, std::string_view second = {});

class DuplicateCounter {
 public:
  DuplicateCounter();  // an unnamed temporary file that vanishes with the object
  void add(uint64_t hash);
  int64_t duplicates();  // examples that are equal to an earlier one

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  int64_t count_ = 0;
};

}  // namespace limpid
