#pragma once
// TextStream: the text of tokens as they come, in parts that can be shown at once: no part ends within a character, and
// none holds the beginning of what may become a stop string.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace limpid {

class TextStream {
 public:
  // `before` are the tokens that the text goes on from: a tokenizer may write the first token of a text differently
  // from a later one. The tokenizer must outlive the stream.
  TextStream(const Tokenizer& tokenizer, std::span<const int32_t> before, std::vector<std::string> stop = {});

  // The text that can be shown now; often one token's, sometimes none, sometimes several tokens'.
  std::string add(int32_t id);
  // No more tokens come: what was held back.
  std::string finish();

  bool stopped() const { return stopped_ >= 0; }  // at a stop string; its text and what follows is never shown
  const std::string& stop_string() const { return stop_.at(static_cast<size_t>(stopped_)); }

 private:
  std::string decoded(size_t begin, size_t end) const;
  std::string release(std::string_view text, bool last);

  const Tokenizer& tokenizer_;
  std::vector<std::string> stop_;
  std::vector<int32_t> ids_;
  // Text is decoded from `anchor_` on, so that a token costs the same however long the text is. `done_` tokens have
  // become text whole, and `given_` bytes of the text from the anchor on have been taken from it.
  size_t anchor_ = 0, done_ = 0, given_ = 0;
  std::string held_;  // text that may be the beginning of a stop string
  int64_t stopped_ = -1;
};

}  // namespace limpid
