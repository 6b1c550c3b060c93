#include "inspect/word_attention.h"

#include <algorithm>

#include "inspect/display_text.h"

namespace limpid {
namespace {

constexpr std::string_view kWordStart = "▁";

// The word that each token belongs to; -1: none (the end token).
std::vector<int> words_of(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::vector<int> words;
  int word = -1;
  for (int32_t id : ids) {
    if (word < 0 || tokenizer.piece(id).starts_with(kWordStart)) ++word;
    words.push_back(id == tokenizer.special().end ? -1 : word);
  }
  return words;
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace

std::vector<int32_t> ids_with_end(const Tokenizer& tokenizer, const std::string& text) {
  return with_end(tokenizer.encode(text), tokenizer.special().end);
}

WordAttention attention_of_words(const Tokenizers& tokenizers, const std::string& source, const std::string& target,
                                 const Alignment& alignment) {
  const std::vector<int> cols = words_of(*tokenizers.source, ids_with_end(*tokenizers.source, source));
  const std::vector<int> rows = words_of(*tokenizers.target, ids_with_end(*tokenizers.target, target));
  WordAttention result{split_words(source), split_words(target), {}};
  const auto sources = static_cast<int>(result.source.size()), targets = static_cast<int>(result.target.size());
  result.pattern.assign(result.target.size(), std::vector<double>(result.source.size()));
  for (size_t i = 0; i < std::min(alignment.size(), rows.size()); ++i)
    for (size_t j = 0; j < std::min(alignment[i].size(), cols.size()); ++j)
      if (rows[i] >= 0 && cols[j] >= 0 && rows[i] < targets && cols[j] < sources)
        result.pattern[rows[i]][cols[j]] += alignment[i][j];
  for (int word = 0; word < targets; ++word) {
    const auto tokens = std::count(rows.begin(), rows.end(), word);
    for (double& weight : result.pattern[word]) weight /= static_cast<double>(std::max<int64_t>(tokens, 1));
  }
  return result;
}

WordAttention word_attention(const Model& model, const Tokenizers& tokenizers, const std::string& source,
                             const std::string& target, const AlignmentOptions& which) {
  const std::vector<int32_t> from = ids_with_end(*tokenizers.source, source),
                             to = ids_with_end(*tokenizers.target, target);
  return attention_of_words(tokenizers, source, target, align(model, {&from, 1}, {&to, 1}, which).at(0));
}

std::string draw(const WordAttention& attention) {
  constexpr const char* kShades[] = {" ", "░", "▒", "▓", "█"};
  int64_t margin = 0;
  for (const std::string& word : attention.target) margin = std::max(margin, display_width(word));
  std::string text = std::string(static_cast<size_t>(margin) + 2, ' ');
  for (const std::string& word : attention.source) text += word + ' ';
  text += '\n';
  for (size_t i = 0; i < attention.target.size(); ++i) {
    text += pad_left(attention.target[i], margin) + "  ";
    for (size_t j = 0; j < attention.source.size(); ++j) {
      const char* shade = kShades[std::clamp(static_cast<int>(attention.pattern[i][j] * 5), 0, 4)];
      for (int64_t k = 0; k < display_width(attention.source[j]); ++k) text += shade;
      text += ' ';
    }
    text += '\n';
  }
  return text;
}

}  // namespace limpid
