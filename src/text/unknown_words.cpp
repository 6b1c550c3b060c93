#include "text/unknown_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/nearest.h"
#include "text/word_tokenizer.h"

namespace limpid {

std::string nearest_token(const Tokenizer& tokenizer, std::string_view word) {
  std::vector<std::string> pieces;
  for (int64_t id = 0; id < tokenizer.size(); ++id) pieces.push_back(tokenizer.piece(static_cast<int32_t>(id)));
  return did_you_mean(word, std::vector<std::string_view>(pieces.begin(), pieces.end()));
}

std::vector<std::string> unknown_word_notes(const Tokenizer& tokenizer, std::string_view text, size_t most) {
  const int32_t unknown = tokenizer.special().unknown;
  std::vector<std::string> notes;
  if (unknown < 0) return notes;
  std::set<std::string_view> told;
  for (const std::string_view word : split_words(text)) {
    const std::vector<int32_t> ids = tokenizer.encode(word);
    if (std::find(ids.begin(), ids.end(), unknown) == ids.end() || !told.insert(word).second) continue;
    if (notes.size() == most) break;
    notes.push_back(fmt::format("\"{}\" is not in the model's vocabulary and is read as {}{}", word,
                                tokenizer.piece(unknown), nearest_token(tokenizer, word)));
  }
  return notes;
}

}  // namespace limpid
