#pragma once
// The files that limpid data writes: in pieces, so that memory stays the same however many lines there are.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file.h"

namespace limpid {

// A text file that is written in pieces and appears whole. One that is there with other contents stays: an Error.
class Lines {
 public:
  explicit Lines(const std::filesystem::path& path) : path_(path), file_(path) {}

  void add(std::string_view line) {
    buffer_.append(line) += '\n';
    if (buffer_.size() > kFlush) flush();
  }
  void commit() {
    flush();
    check(!std::filesystem::exists(path_) || hash_file(path_) == hash_.value(),
          "[data] {}: is there already with other contents: name another folder, or remove it", path_);
    file_.commit();
  }

 private:
  static constexpr size_t kFlush = 1 << 16;  // bytes
  void flush() {
    file_.write(buffer_);
    hash_.update(buffer_);
    buffer_.clear();
  }

  std::filesystem::path path_;
  AtomicFile file_;
  ContentHash hash_;
  std::string buffer_;
};

// The files of one corpus, for the report at the end.
class Written {
 public:
  explicit Written(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  void add(const std::string& name, int64_t lines) {
    files_.push_back({{"file", path(name).string()}, {"lines", lines}});
  }
  const nlohmann::json& files() const { return files_; }

 private:
  std::filesystem::path folder_;
  nlohmann::json files_ = nlohmann::json::array();
};

}  // namespace limpid
