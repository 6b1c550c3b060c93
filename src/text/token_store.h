#pragma once
// TokenStore: a corpus as ids on disk. Examples are read one by one from any place, so that training needs no more
// memory for a large corpus than for a small one. It is a cache that anyone can delete: it is made again from the text.
//
//   NAME.tokens   the ids of all examples, end to end, 32 bits each
//   NAME.index    for each example: where it begins (64 bits), ids of its first and of its second side (32 bits each)
//
// Whatever the two files hold, reading them ends in examples or in an Error.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/file.h"

namespace limpid {

// Translation: source and target, each with its end token. Texts: the second side is empty. Classification: one label.
struct TokenExample {
  std::vector<int32_t> first, second;
};

struct ExampleEntry {
  uint64_t begin = 0;  // ids before it in the file
  uint32_t first = 0;  // ids
  uint32_t second = 0;

  int64_t longest() const { return std::max(first, second); }
};

class TokenStoreWriter {
 public:
  explicit TokenStoreWriter(const std::filesystem::path& path);  // without extension
  void add(std::span<const int32_t> first, std::span<const int32_t> second);
  void commit();  // both files come into being, or are replaced, now

 private:
  void flush();

  AtomicFile tokens_, index_;
  std::vector<int32_t> ids_;
  std::vector<ExampleEntry> entries_;
  uint64_t written_ = 0;  // ids, those waiting in memory included
};

class TokenStore {
 public:
  explicit TokenStore(const std::filesystem::path& path);  // without extension
  TokenStore(const TokenStore&) = delete;
  TokenStore& operator=(const TokenStore&) = delete;
  ~TokenStore();

  int64_t size() const { return size_; }      // examples
  int64_t tokens() const { return tokens_; }  // ids of all, both sides
  ExampleEntry entry(int64_t example) const;
  TokenExample example(int64_t example) const { return example_of(entry(example)); }
  TokenExample example_of(const ExampleEntry& entry) const;
  // Ids across the borders of examples.
  std::vector<int32_t> ids(int64_t begin, int64_t count) const;

  // Reads everything once: an Error unless every example lies in the file and its ids are 0 … first - 1 on the first
  // side, 0 … second - 1 on the second.
  void check_ids(int64_t first, int64_t second) const;

 private:
  std::filesystem::path path_;
  int64_t size_ = 0, tokens_ = 0;  // before the files, whose opening sets them
  int tokens_file_ = -1, index_file_ = -1;
};

}  // namespace limpid
