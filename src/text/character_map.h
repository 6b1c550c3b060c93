#pragma once
// The compiled character map of a SentencePiece model ("precompiled_charsmap"): a double-array trie of the strings that
// are replaced, and what replaces them.
//
//   size (u32) of the trie in bytes, the trie, the replacements one after another, each with a zero byte after it
//
// A unit of the trie is 32 bits: of a node its byte (bits 0–7), whether a string ends there (bit 8) and the offset to
// its children (bits 10–31, times 256 where bit 9 is set): the child for byte c of node n is n ^ offset ^ c. Where a
// string ends, child 0 has bit 31 set and holds the place of the replacement.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

// The library follows offsets without looking where they lead. An Error that begins with `where` unless every step from
// the root stays within the trie, comes to an end, meets no more strings on its way than the library has room for, and
// every replacement is text that ends.
void check_character_map(std::string_view map, std::string_view where);

// The map as a step of its own, for vocabularies that SentencePiece itself does not read: as Hugging Face's library
// applies "Precompiled". A cluster of characters below 6 bytes that begins with a string of the map becomes its
// replacement; of other clusters every character by itself does.
class CharacterMap {
 public:
  // Throws as check_character_map does.
  CharacterMap(std::string_view map, std::string_view where);
  std::string apply(std::string_view text) const;  // of valid UTF-8

 private:
  // Of the shortest string that the text begins with.
  std::optional<std::string_view> replacement(std::string_view text) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace limpid
