#pragma once
// Place: which numbers of which taps, in a line that people write.
//
//   blocks.3.ffn.post                    every neuron at every position
//   blocks.3.ffn.post[12,57]@-1          two neurons at the last position
//   blocks.*.attn.z[head 2]@0,4..6       what head 2 of every layer passes on, at four positions
//   decoder.1.cross_attn.pattern[head 0, key 3]@2    how much query 2 looks at key 3
//   blocks.0.resid_post@Jordan           where the text says Jordan
//
// Positions count from 0, or from the end by -1, -2, …; a..b means both ends too. Names are ours or TransformerLens'.

#include <string>
#include <string_view>
#include <vector>

#include "inspect/tap_names.h"

namespace limpid {

struct PositionRange {
  int64_t first = 0, last = 0;
  std::string token = {};  // not empty: wherever this token stands
};

struct IndexRange {
  int64_t first = 0, last = 0;  // both included
};

// Ranges stay as they were written: only a tap says how many numbers there are.
struct Place {
  std::string tap;                                // a name or pattern
  std::vector<IndexRange> features, heads, keys;  // none: all
  std::vector<PositionRange> positions;           // none: all
};

Place parse_place(std::string_view text);

// The chosen positions of a text of `count` tokens, in order, each once; `tokens` may be empty where none is named.
std::vector<int64_t> chosen_positions(const Place& place, int64_t count, const std::vector<std::string>& tokens);

// Whether the number is in one of the ranges; in any number where there are none.
bool is_in(const std::vector<IndexRange>& ranges, int64_t number);

// The columns of a row, in order, each once: those of the chosen heads, or the chosen features; all where none is
// chosen.
std::vector<int64_t> chosen_columns(const Place& place, const TapInfo& tap);
std::vector<int64_t> chosen_heads(const Place& place, const TapInfo& tap);

// "4..6" and "-1" as numbers; false where it is something else.
std::string_view trimmed(std::string_view text);  // without the spaces around it
bool parse_range(std::string_view text, int64_t& first, int64_t& last);

}  // namespace limpid
