#include "inspect/word_attention.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
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

std::vector<int32_t> encode(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> ids = tokenizer.encode(text);
  ids.push_back(tokenizer.special().end);
  return ids;
}

// Sums a pattern over tokens into one over words.
void gather(ConstMatrix pattern, const std::vector<int>& rows, const std::vector<int>& cols, WordAttention& into) {
  into.pattern.assign(into.target.size(), std::vector<double>(into.source.size()));
  for (int64_t i = 0; i < pattern.rows; ++i)
    for (int64_t j = 0; j < pattern.cols; ++j)
      if (rows[i] >= 0 && cols[j] >= 0 && rows[i] < static_cast<int>(into.target.size()) &&
          cols[j] < static_cast<int>(into.source.size()))
        into.pattern[rows[i]][cols[j]] += static_cast<double>(pattern.row(i)[j]);
  for (size_t word = 0; word < into.target.size(); ++word) {
    const auto tokens = std::count(rows.begin(), rows.end(), static_cast<int>(word));
    for (double& weight : into.pattern[word]) weight /= static_cast<double>(std::max<int64_t>(tokens, 1));
  }
}

// One pass gives all heads.
template <class Use>
void each_head(const Seq2Seq& model, const Tokenizers& tokenizers, const std::string& source, const std::string& target,
               const Use& use) {
  const auto from = encode(*tokenizers.source, source), to = encode(*tokenizers.target, target);
  const auto cols = words_of(*tokenizers.source, from), rows = words_of(*tokenizers.target, to);
  WordAttention attention{split_words(source), split_words(target), {}};
  FunctionProbe probe;
  for (int64_t layer = 0; layer < model.config().decoder.layers; ++layer)
    probe.on(fmt::format("decoder.{}.cross_attn.pattern", layer), [&, layer](const Tap& tap) {
      for (int64_t head = 0; head < model.config().decoder.heads; ++head) {
        gather(tap.pairs(0, head), rows, cols, attention);
        use(Head{layer, head}, attention);
      }
    });
  Run run({.probe = &probe});
  model.forward(run, Batch::pairs({from}, {to}, static_cast<int32_t>(*model.config().decoder_start_token)));
}

}  // namespace

WordAttention word_attention(const Seq2Seq& model, const Tokenizers& tokenizers, const std::string& source,
                             const std::string& target, Head head) {
  WordAttention result;
  each_head(model, tokenizers, source, target, [&](Head at, const WordAttention& attention) {
    if (at.layer == head.layer && at.head == head.head) result = attention;
  });
  return result;
}

AligningHead find_aligning_head(const Seq2Seq& model, const Tokenizers& tokenizers,
                                const std::vector<AlignedPair>& pairs) {
  const int64_t heads = model.config().decoder.heads;
  std::vector<int64_t> right(model.config().decoder.layers * heads);
  int64_t words = 0;
  for (const AlignedPair& pair : pairs) {
    each_head(model, tokenizers, pair.source, pair.target, [&](Head at, const WordAttention& attention) {
      for (size_t word = 0; word < attention.pattern.size(); ++word) {
        const auto& row = attention.pattern[word];
        const auto strongest = static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin());
        right[at.layer * heads + at.head] +=
            std::count(pair.alignment.begin(), pair.alignment.end(), std::pair(strongest, static_cast<int>(word)));
      }
    });
    words += static_cast<int64_t>(split_words(pair.target).size());
  }
  check(words > 0, "[attention] no sentences to look at");
  const auto best = static_cast<int64_t>(std::max_element(right.begin(), right.end()) - right.begin());
  return {{best / heads, best % heads}, static_cast<double>(right[best]) / static_cast<double>(words)};
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
