#pragma once
// Vocabularies whose ids fairseq gave: XLM-RoBERTa, CamemBERT, mBART, mBART-50, NLLB and M2M-100, as their folders came
// before there was a tokenizer.json: a file sentencepiece.bpe.model, of M2M-100 vocab.json beside it.

#include <filesystem>

#include "text/tokenizer.h"

namespace limpid {

// Which of them it is, tokenizer_config.json says by its class or config.json by its model type. Translators begin with
// the language that tokenizer_config.json calls src_lang, else English.
Tokenizers load_fairseq(const std::filesystem::path& folder);

}  // namespace limpid
