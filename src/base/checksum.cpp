#include "base/checksum.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/descriptor.h"
#include "base/error.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace limpid {
namespace {

template <class Word>
Word load(const std::byte* bytes) {  // little-endian, as both sums want it and as every machine we run on has it
  static_assert(std::endian::native == std::endian::little);
  Word word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// What a byte does to the register: its eight bits divided by the polynomial, bits reversed.
constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest & 1 ? 0x82f63b78u : 0u);
    table[i] = rest;
  }
  return table;
}();

uint32_t crc_by_table(const std::byte* bytes, size_t count, uint32_t state) {
  for (size_t i = 0; i < count; ++i)
    state = (state >> 8) ^ kCrcTable[(state ^ std::to_integer<uint32_t>(bytes[i])) & 0xff];
  return state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t crc_by_instruction(const std::byte* bytes, size_t count, uint32_t state) {
  uint64_t wide = state;
  for (; count >= 8; count -= 8, bytes += 8) wide = _mm_crc32_u64(wide, load<uint64_t>(bytes));
  return crc_by_table(bytes, count, static_cast<uint32_t>(wide));
}
#endif

// XXH64, in the names of its specification (doc/xxhash_spec.md of the xxHash project).
constexpr uint64_t kPrime1 = 0x9e3779b185ebca87, kPrime2 = 0xc2b2ae3d27d4eb4f, kPrime3 = 0x165667b19e3779f9,
                   kPrime4 = 0x85ebca77c2b2ae63, kPrime5 = 0x27d4eb2f165667c5;

uint64_t round_of(uint64_t lane, uint64_t input) { return std::rotl(lane + input * kPrime2, 31) * kPrime1; }

uint64_t merge(uint64_t hash, uint64_t lane) { return (hash ^ round_of(0, lane)) * kPrime1 + kPrime4; }

uint64_t avalanche(uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

[[noreturn]] void fail_reading(const std::filesystem::path& path, int code) {
  fail(code == ENOENT ? ErrorKind::not_found : ErrorKind::io,
       "[file] {}: cannot be read: {}: is the name right, and may you read it?", path.string(),
       std::generic_category().message(code));
}

}  // namespace

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before) {
#if defined(__x86_64__)
  static const bool instruction = __builtin_cpu_supports("sse4.2");
  if (instruction) return ~crc_by_instruction(bytes.data(), bytes.size(), ~before);
#endif
  return crc32c_by_table(bytes, before);
}

uint32_t crc32c_by_table(std::span<const std::byte> bytes, uint32_t before) {
  return ~crc_by_table(bytes.data(), bytes.size(), ~before);
}

void ContentHash::take_stripe(const std::byte* bytes) {
  for (size_t lane = 0; lane < lanes_.size(); ++lane)
    lanes_[lane] = round_of(lanes_[lane], load<uint64_t>(bytes + 8 * lane));
}

void ContentHash::update(std::span<const std::byte> bytes) {
  const size_t waiting = length_ % kStripe;
  length_ += bytes.size();
  if (waiting > 0) {
    const size_t taken = std::min(bytes.size(), kStripe - waiting);
    std::copy_n(bytes.data(), taken, waiting_.data() + waiting);
    bytes = bytes.subspan(taken);
    if (waiting + taken < kStripe) return;
    take_stripe(waiting_.data());
  }
  for (; bytes.size() >= kStripe; bytes = bytes.subspan(kStripe)) take_stripe(bytes.data());
  std::copy(bytes.begin(), bytes.end(), waiting_.begin());
}

uint64_t ContentHash::value() const {
  uint64_t hash = kPrime5;
  if (length_ >= kStripe) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const uint64_t lane : lanes_) hash = merge(hash, lane);
  }
  hash += length_;
  const std::byte* bytes = waiting_.data();
  size_t left = length_ % kStripe;
  for (; left >= 8; left -= 8, bytes += 8)
    hash = std::rotl(hash ^ round_of(0, load<uint64_t>(bytes)), 27) * kPrime1 + kPrime4;
  for (; left >= 4; left -= 4, bytes += 4)
    hash = std::rotl(hash ^ (load<uint32_t>(bytes) * kPrime1), 23) * kPrime2 + kPrime3;
  for (; left > 0; --left, ++bytes)
    hash = std::rotl(hash ^ (std::to_integer<uint64_t>(*bytes) * kPrime5), 11) * kPrime1;
  return avalanche(hash);
}

uint64_t content_hash(std::span<const std::byte> bytes) {
  ContentHash hash;
  hash.update(bytes);
  return hash.value();
}

uint64_t hash_file(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) fail_reading(path, errno);
  constexpr size_t kPiece = 1 << 20;
  const auto piece = std::make_unique_for_overwrite<std::byte[]>(kPiece);
  ContentHash hash;
  for (;;) {
    const ssize_t got = ::read(file.get(), piece.get(), kPiece);
    if (got == 0) return hash.value();
    if (got > 0) hash.update({piece.get(), static_cast<size_t>(got)});
    if (got < 0 && errno != EINTR) fail_reading(path, errno);
  }
}

std::string hash_text(uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace limpid
