#pragma once
// Trains a SentencePiece model on lines of text.

#include <string>
#include <vector>

#include "text/tokenizer_training.h"

namespace limpid {

// The model as it stands in a model file. Same options and lines, same bytes. A text too small for the vocabulary gives
// a smaller one. `whole_text`: line ends and runs of spaces are text, else all white space counts as one space.
std::string train_sentencepiece(const TokenizerOptions& options, const std::vector<std::string>& lines,
                                bool whole_text);

}  // namespace limpid
