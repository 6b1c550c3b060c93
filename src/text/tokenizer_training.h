#pragma once
// Trains a tokenizer on text, and keeps it in a model's folder in the ecosystem's own files.

#include <functional>
#include <optional>

#include "text/tokenizer.h"

namespace limpid {

enum class TokenizerKind {
  bpe,         // SentencePiece, byte pair encoding
  unigram,     // SentencePiece, unigram language model
  characters,  // every character that occurs is a token
  words,       // text that comes split by spaces; a word that ends in "@@" is joined to the next one on output
};

struct TokenizerOptions {
  TokenizerKind kind = TokenizerKind::bpe;
  int64_t vocab = 8000;       // of subwords; the most of characters and words, the commonest stay
  bool joint = true;          // one segmentation for both sides (else two, with one table of ids over both)
  bool lowercase = false;     // text is folded to lower case on the way in
  bool byte_fallback = true;  // subwords: a character never seen becomes its bytes
  double coverage = 0.9995;   // subwords: share of characters kept as characters
  int64_t min_count = 1;      // words and characters: rarer ones are unknown
  std::vector<std::string> special = {"<pad>", "</s>", "<unk>"};  // in this order from id 0; also "<s>", "<mask>"
  int64_t sample_bytes = 8 << 20;  // of text that training looks at, drawn evenly from all lines; bounds memory
  uint64_t seed = 1;
  int threads = 1;
};

// Calls the function with every line of a text, once each time it is asked.
using EachLine = std::function<void(const std::function<void(std::string_view)>&)>;

// `target` empty: a model of one side, to which line ends and runs of spaces are text; of two sides, each line is a
// sentence, and SentencePiece takes all white space in it for one space. Same options and text, same tokenizer,
// whatever the number of threads. A text too small for the vocabulary gives a smaller one.
Tokenizers train_tokenizers(const TokenizerOptions& options, const EachLine& source, const EachLine& target = {});

// Writes the tokenizer files that other programs expect beside a config.json of this model type ("marian": source.spm,
// target.spm, vocab.json; else tokenizer.json and tokenizer_config.json, and tokenizer.model where SentencePiece made
// it).
void save_tokenizers(const std::filesystem::path& folder, const std::string& model_type, const Tokenizers& tokenizers);

// Reads what save_tokenizers wrote, and the files that Hugging Face's folders have: source.spm, target.spm and
// vocab.json; tokenizer.model; tokenizer.json; vocab.json and merges.txt; vocab.txt.
Tokenizers load_tokenizers(const std::filesystem::path& folder);
bool has_tokenizers(const std::filesystem::path& folder);

// One of these files by itself, with those that belong to it beside it.
Tokenizers load_tokenizer_file(const std::filesystem::path& file);

}  // namespace limpid
