#pragma once
// Rules about tokens that must or must not come next, as generation_config.json or the user states them. They are
// applied to a row of scores before a token is chosen, whichever way that is done.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/real.h"

namespace limpid {

struct TokenRules {
  std::vector<std::vector<int32_t>> bad_words;       // sequences that are not to be written
  std::vector<int32_t> suppressed;                   // tokens that are not to be written
  std::vector<int32_t> suppressed_first;             // not as the first token
  std::optional<int32_t> forced_first, forced_last;  // the first token; the last one, where no more may follow
  std::vector<int32_t> ends;                         // tokens that end a text; empty: as config.json says
  int64_t least_tokens = 0;                          // before so many are written the text does not end
  int64_t no_repeat_ngram = 0;                       // no sequence of so many tokens comes twice; 0: any may

  // Whether apply_token_rules can change anything.
  bool any() const;
};

// Where a text stands. `history` is what it has been given and has written, without a start token; `written` the number
// of its last tokens that were written.
struct TextPlace {
  std::span<const int32_t> history;
  int64_t written = 0;
  bool last = false;  // no token may follow the next one
};

// Tokens that must not come next; one may stand there twice. The rivals of a forced token are not among them.
std::vector<int32_t> forbidden_next(const TokenRules& rules, const TextPlace& place);

// Their scores become -∞.
void forbid(std::span<const int32_t> tokens, std::span<real> scores);

// Scores of tokens that must not come next become -∞; of a forced token's rivals too.
void apply_token_rules(const TokenRules& rules, const TextPlace& place, std::span<real> scores);

}  // namespace limpid
