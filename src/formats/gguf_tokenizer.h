#pragma once
// The vocabulary of a GGUF file: SentencePiece ("llama", "t5"), byte-level BPE ("gpt2") or WordPiece ("bert").

#include "formats/gguf.h"
#include "text/tokenizer.h"

namespace limpid {

inline std::string tokenizer_key(const char* name) { return std::string("tokenizer.ggml.") + name; }

bool has_tokenizer(const GgufFile& file);

// An Error that says what is missing or not known.
Tokenizers gguf_tokenizers(const GgufFile& file);

}  // namespace limpid
