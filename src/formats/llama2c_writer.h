#pragma once
// Models of the Llama family as files of llama2.c (formats/llama2c.h): version 0, float32, and the tokens beside it.

#include <filesystem>
#include <string>

#include "models/model.h"
#include "text/tokenizer.h"

namespace limpid {

// Why llama2.c cannot run the model, for people to read; empty: it can.
std::string why_no_llama2c(const Config& config);

// The model's weights must be reals (formats/plain_model.h).
void write_llama2c(const std::filesystem::path& path, Model& model);

// The file of tokens. An Error where the tokenizer is not of SentencePiece's kind.
void write_llama2c_tokens(const std::filesystem::path& path, const Tokenizer& tokenizer);

}  // namespace limpid
