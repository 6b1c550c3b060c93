#pragma once
// Checksums that tell a damaged file from a whole one. They guard against accidents, not against an enemy.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace limpid {

// CRC32C (Castagnoli, RFC 3720), what TFRecord files carry. A long text can be taken piece by piece:
// crc32c(b, crc32c(a)) is that of a followed by b.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0);
inline uint32_t crc32c(std::string_view text, uint32_t before = 0) {
  return crc32c(std::as_bytes(std::span(text)), before);
}

// The same without the processor's own instruction for it, which not every machine has.
uint32_t crc32c_by_table(std::span<const std::byte> bytes, uint32_t before = 0);

// XXH64 with seed 0 (Yann Collet; `xxhsum -H1` prints the same), several GB/s: for the contents of files.
class ContentHash {
 public:
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  uint64_t value() const;  // of all bytes so far; more may follow

 private:
  static constexpr size_t kStripe = 32;  // bytes: eight for each of the four lanes
  void take_stripe(const std::byte* bytes);

  std::array<uint64_t, 4> lanes_ = {0x60ea27eeadc0b5d6, 0xc2b2ae3d27d4eb4f, 0, 0x61c8864e7a143579};
  std::array<std::byte, kStripe> waiting_ = {};  // the bytes since the last whole stripe
  uint64_t length_ = 0;                          // of all bytes so far
};

uint64_t content_hash(std::span<const std::byte> bytes);
inline uint64_t content_hash(std::string_view text) { return content_hash(std::as_bytes(std::span(text))); }

// Of a file's bytes, in one pass without holding them; an empty file has a hash too.
uint64_t hash_file(const std::filesystem::path& path);

// 16 hexadecimal digits, as manifests have it.
std::string hash_text(uint64_t hash);

}  // namespace limpid
