#include "text/tokenizer_training.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "text/character_tokenizer.h"
#include "text/line_sample.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/sentencepiece_training.h"
#include "text/utf8.h"
#include "text/word_tokenizer.h"

namespace limpid {
namespace {

void check_options(const TokenizerOptions& options) {
  check(options.vocab > static_cast<int64_t>(options.special.size()) && options.vocab <= 1 << 24,
        "[tokenizer] a vocabulary of {} cannot be: ask for more than the {} special tokens and at most 16 million",
        options.vocab, options.special.size());
  check(options.coverage > 0.9 && options.coverage <= 1,
        "[tokenizer] a coverage of {} cannot be: it is a share of characters, above 0.9 and at most 1",
        options.coverage);
  check(options.sample_bytes > 0, "[tokenizer] a sample of {} bytes cannot be: give it some", options.sample_bytes);
  for (const std::string& name : options.special)
    check(!name.empty() && name.find_first_of(", \t\r\n") == name.npos && !invalid_utf8(name),
          "[tokenizer] \"{}\" cannot be a special token: write it without spaces and commas", name);
  const Vocabulary table(options.special, options.special, "[tokenizer] special");  // finds doubles
  check(table.special().unknown >= 0, "[tokenizer] there is no special token for the unknown: add \"<unk>\"");
}

class Counts {
 public:
  void add(std::string_view piece, int64_t times = 1) {
    if (const auto found = counts_.find(piece); found != counts_.end()) {
      found->second += times;
      return;
    }
    counts_.emplace(piece, times);
    if (counts_.size() > kMost) drop_rarest();
  }

  // The commonest first, equals by their bytes.
  std::vector<std::pair<std::string, int64_t>> sorted() const {
    std::vector<std::pair<std::string, int64_t>> pieces(counts_.begin(), counts_.end());
    std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    return pieces;
  }

 private:
  static constexpr size_t kMost = 1 << 22;  // different pieces at a time, which bounds memory to some hundred MB

  void drop_rarest() {
    for (int64_t rare = 1; counts_.size() > kMost / 2; ++rare)
      std::erase_if(counts_, [&](const auto& entry) { return entry.second <= rare; });
  }

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> counts_;
};

std::shared_ptr<const Vocabulary> counted_vocabulary(const TokenizerOptions& options, const Counts& counts) {
  std::vector<std::string> pieces = options.special;
  for (auto& [piece, count] : counts.sorted()) {
    if (static_cast<int64_t>(pieces.size()) >= options.vocab || count < options.min_count) break;
    const bool special = std::find(options.special.begin(), options.special.end(), piece) != options.special.end();
    if (!special) pieces.push_back(piece);
  }
  check(pieces.size() > options.special.size(),
        "[tokenizer] the text gives no token: is it empty, or the least count of {} too high?", options.min_count);
  return std::make_shared<Vocabulary>(std::move(pieces), options.special, "[tokenizer] text");
}

// One table for both sides: nothing about characters or words belongs to one of them.
Tokenizers train_counted(const TokenizerOptions& options, const EachLine& source, const EachLine& target) {
  const bool characters = options.kind == TokenizerKind::characters;
  Counts counts;
  const auto count_line = [&](std::string_view line) {
    std::string folded;
    if (options.lowercase) line = folded = lower_case(line);
    if (characters) {
      each_code_point(line, [&](char32_t, std::string_view bytes) { counts.add(bytes); });
      if (!target) counts.add("\n");
    } else {
      for (const std::string_view word : split_words(line)) counts.add(word);
    }
  };
  source(count_line);
  if (target) target(count_line);
  auto vocabulary = counted_vocabulary(options, counts);
  std::shared_ptr<const Tokenizer> tokenizer;
  if (characters)
    tokenizer = std::make_shared<CharacterTokenizer>(std::move(vocabulary), options.lowercase);
  else
    tokenizer = std::make_shared<WordTokenizer>(std::move(vocabulary), options.lowercase);
  return {tokenizer, tokenizer};
}

std::string train_on(const TokenizerOptions& options, std::initializer_list<const EachLine*> texts, bool whole_text) {
  LineSample sample({.bytes = options.sample_bytes, .seed = options.seed, .whole_text = whole_text});
  for (const EachLine* each_line : texts) (*each_line)([&](std::string_view line) { sample.add(line); });
  const std::vector<std::string> lines = sample.take();
  check(!lines.empty(), "[tokenizer] there is no text to learn from: are all lines empty?");
  return train_sentencepiece(options, lines, whole_text);
}

// Special tokens first, then the pieces of the source, then those that only the target has.
std::shared_ptr<const Vocabulary> joined_table(const TokenizerOptions& options, const SentencePieceTokenizer& source,
                                               const SentencePieceTokenizer& target) {
  std::vector<std::string> pieces = source.vocabulary().pieces();
  for (const std::string& piece : target.vocabulary().pieces())
    if (source.vocabulary().find(piece) < 0) pieces.push_back(piece);
  return std::make_shared<Vocabulary>(std::move(pieces), options.special, "[tokenizer] joined vocabulary");
}

Tokenizers train_subwords(const TokenizerOptions& options, const EachLine& source, const EachLine& target) {
  constexpr std::string_view where = "[tokenizer] trained model";
  if (!target || options.joint) {
    const std::string model =
        target ? train_on(options, {&source, &target}, false) : train_on(options, {&source}, true);
    const auto tokenizer = std::make_shared<SentencePieceTokenizer>(model, where);
    return {tokenizer, tokenizer};
  }
  const SentencePieceTokenizer from(train_on(options, {&source}, false), where);
  const SentencePieceTokenizer to(train_on(options, {&target}, false), where);
  const auto table = joined_table(options, from, to);
  return {std::make_shared<SentencePieceTokenizer>(std::string(from.sentencepiece_model()), where, table),
          std::make_shared<SentencePieceTokenizer>(std::string(to.sentencepiece_model()), where, table)};
}

}  // namespace

Tokenizers train_tokenizers(const TokenizerOptions& options, const EachLine& source, const EachLine& target) {
  check_options(options);
  const bool subwords = options.kind == TokenizerKind::bpe || options.kind == TokenizerKind::unigram;
  return subwords ? train_subwords(options, source, target) : train_counted(options, source, target);
}

}  // namespace limpid
