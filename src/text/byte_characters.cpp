#include "text/byte_characters.h"

#include "text/utf8.h"

namespace limpid {
namespace {

constexpr char32_t kFirstStandIn = 0x100;
constexpr int kStandIns = 68;  // 33 controls and the space, 33 controls of Latin-1 with DEL, and the soft hyphen

constexpr bool stands_for_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Tables {
  std::array<std::string, 256> characters;
  std::array<uint8_t, kStandIns> stand_ins{};

  Tables() {
    size_t next = 0;
    for (int byte = 0; byte < 256; ++byte) {
      char32_t character = static_cast<char32_t>(byte);
      if (!stands_for_itself(byte)) {
        character = kFirstStandIn + static_cast<char32_t>(next);
        stand_ins[next++] = static_cast<uint8_t>(byte);
      }
      append_utf8(characters[static_cast<size_t>(byte)], character);
    }
  }
};

const Tables& tables() {
  static const Tables all;
  return all;
}

}  // namespace

const std::array<std::string, 256>& byte_characters() { return tables().characters; }

std::optional<uint8_t> byte_of_character(char32_t character) {
  if (character < 256 && stands_for_itself(static_cast<int>(character))) return static_cast<uint8_t>(character);
  if (character >= kFirstStandIn && character < kFirstStandIn + kStandIns)
    return tables().stand_ins[character - kFirstStandIn];
  return std::nullopt;
}

std::string bytes_of_piece(std::string_view piece) {
  std::string text;
  text.reserve(piece.size());
  each_code_point(piece, [&](char32_t character, std::string_view bytes) {
    if (const auto byte = byte_of_character(character))
      text += static_cast<char>(*byte);
    else
      text += bytes;
  });
  return text;
}

}  // namespace limpid
