#pragma once
// The characters by which byte-level vocabularies write bytes (GPT-2): a printable character of Latin-1 stands for its
// own byte; the other bytes, space and line end among them, take the characters from U+0100 on ("Ġ" is a space).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace limpid {

// By byte, in UTF-8.
const std::array<std::string, 256>& byte_characters();

// The byte that a character stands for; none: it stands for no byte.
std::optional<uint8_t> byte_of_character(char32_t character);

// A piece as text, byte for byte. Characters that stand for no byte are themselves.
std::string bytes_of_piece(std::string_view piece);

}  // namespace limpid
