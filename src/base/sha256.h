#pragma once
// SHA-256 (FIPS 180-4): tells a downloaded file from any other, by accident or by intent.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace limpid {

class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  std::string hex() const;  // of all bytes so far, 64 digits; more may follow

 private:
  static constexpr size_t kBlock = 64;
  void take_block(const std::byte* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlock> waiting_ = {};
  uint64_t length_ = 0;
};

std::string sha256_of_file(const std::filesystem::path& path);  // of an empty file too

}  // namespace limpid
