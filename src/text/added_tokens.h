#pragma once
// AddedTokens: tokens that are found in a text before anything else is done to it, such as those a vocabulary got after
// it was learned. Special tokens are looked for only in texts that a program made (a chat template's): what somebody
// writes never becomes one.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

class AddedTokens {
 public:
  // As tokenizer.json says of a token: white space before or after it belongs to it; it counts only where no letter or
  // digit stands beside it; it is looked for in the normalised text, normalised itself.
  struct Rules {
    bool lstrip = false, rstrip = false, single_word = false, normalized = false;
  };
  void add(std::string text, int32_t id, Rules rules);
  void add(std::string text, int32_t id) { add(std::move(text), id, Rules{}); }
  bool empty() const { return empty_; }

  // Calls part(text) for what lies between tokens and token(id) for tokens, from left to right; of tokens that begin at
  // the same place the longest counts.
  void each(std::string_view text, const std::function<void(std::string_view)>& part,
            const std::function<void(int32_t)>& token) const;

 private:
  struct Token {
    std::string text;
    int32_t id;
    Rules rules;
  };
  std::array<std::vector<Token>, 256> by_first_byte_;  // longest first
  bool empty_ = true;
};

}  // namespace limpid
