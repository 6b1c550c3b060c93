#pragma once
// AddedTokens: tokens that are found in a text before anything else is done to it, such as those a vocabulary got after
// it was learned. Special tokens are not among them: what somebody writes never becomes one.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

class AddedTokens {
 public:
  void add(std::string text, int32_t id);
  bool empty() const { return empty_; }

  // Calls part(text) for what lies between tokens and token(id) for tokens, from left to right; of tokens that begin at
  // the same place the longest counts.
  void each(std::string_view text, const std::function<void(std::string_view)>& part,
            const std::function<void(int32_t)>& token) const;

 private:
  struct Token {
    std::string text;
    int32_t id;
  };
  std::array<std::vector<Token>, 256> by_first_byte_;  // longest first
  bool empty_ = true;
};

}  // namespace limpid
