#include "app/tar_member.h"

#include <zlib.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kBlock = 512;  // what a tarball is made of

class Tarball {
 public:
  explicit Tarball(const fs::path& path) : path_(path), file_(gzopen(path.c_str(), "rb"), gzclose) {
    check(file_ != nullptr, "[get] {}: cannot be read", path);
  }

  // The next header; false: the end.
  bool next() {
    if (!read(header_.data(), kBlock) || header_[0] == '\0') return false;
    std::string_view digits = field(124, 12);
    while (digits.starts_with(' ')) digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size_, 8);
    check(error == std::errc() && size_ >= 0, "[get] {}: is no tarball, or damaged", path_);
    return true;
  }
  std::string name() const {
    const std::string folder(field(257, 5) == "ustar" ? field(345, 155) : "");
    return (folder.empty() ? "" : folder + "/") + std::string(field(0, 100));
  }
  bool is_file() const { return header_[156] == '0' || header_[156] == '\0'; }
  int64_t size() const { return size_; }

  // The bytes of the member, piece by piece, and what fills its last block.
  template <class Take>
  void contents(const Take& take) {
    std::array<char, 64 * kBlock> piece;
    for (int64_t left = (size_ + kBlock - 1) / kBlock * kBlock, of_file = size_; left > 0;) {
      const int64_t count = std::min<int64_t>(left, std::ssize(piece));
      check(read(piece.data(), count), "[get] {}: ends too early: damaged", path_);
      take(std::string_view(piece.data(), static_cast<size_t>(std::min(count, of_file))));
      left -= count;
      of_file -= std::min(count, of_file);
    }
  }

 private:
  std::string_view field(size_t begin, size_t length) const {
    const std::string_view whole(header_.data() + begin, length);
    return whole.substr(0, whole.find('\0'));
  }
  bool read(char* into, int64_t count) {
    return gzread(file_.get(), into, static_cast<unsigned>(count)) == static_cast<int>(count);
  }

  fs::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  std::array<char, kBlock> header_{};
  int64_t size_ = 0;
};

}  // namespace

void extract_member(const fs::path& tarball, const std::string& member, const fs::path& out, int64_t most) {
  Tarball tar(tarball);
  while (tar.next()) {
    if (!tar.is_file() || tar.name() != member) {
      tar.contents([](std::string_view) {});
      continue;
    }
    check(tar.size() <= most, "[get] {}: {} has {} bytes, expected are {}", tarball, member, tar.size(), most);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(out.c_str(), "wb"), std::fclose);
    bool written = file != nullptr;
    tar.contents([&](std::string_view piece) {
      written = written && std::fwrite(piece.data(), 1, piece.size(), file.get()) == piece.size();
    });
    check(written && std::fflush(file.get()) == 0, "[get] {}: cannot be written: is the disk full?", out);
    return;
  }
  fail("[get] {}: holds no {}", tarball.string(), member);
}

}  // namespace limpid
