#pragma once
// The compiled character map of a SentencePiece model ("precompiled_charsmap"): a double-array trie of the strings that
// are replaced, and what replaces them.
//
//   size (u32) of the trie in bytes, the trie, the replacements one after another, each with a zero byte after it
//
// A unit of the trie is 32 bits: of a node its byte (bits 0–7), whether a string ends there (bit 8) and the offset to
// its children (bits 10–31, times 256 where bit 9 is set): the child for byte c of node n is n ^ offset ^ c. Where a
// string ends, child 0 has bit 31 set and holds the place of the replacement.

#include <string_view>

namespace limpid {

// The library follows offsets without looking where they lead. An Error that begins with `where` unless every step from
// the root stays within the trie, comes to an end, meets no more strings on its way than the library has room for, and
// every replacement is text that ends.
void check_character_map(std::string_view map, std::string_view where);

}  // namespace limpid
