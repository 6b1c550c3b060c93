#pragma once
// Models to GGUF files, with their vocabulary, so that llama.cpp and others open them.

#include <filesystem>
#include <string>

#include "base/error.h"
#include "formats/gguf_writer.h"
#include "models/model.h"
#include "text/tokenizer.h"

namespace limpid {

// Why a model cannot be a GGUF file, for people to read; empty: it can.
std::string why_no_gguf(const Config& config, const Tokenizers& tokenizers);

struct GgufOptions {
  std::string name;       // of the model
  std::string type = {};  // "Q4_K_M": what the file calls itself; empty: by the type that most numbers have
  int pooling = 0;        // of an encoder, in GGUF's numbers: 1 mean, 2 first token, 3 last; 0: not said
};

// The model must have outputs in rows and types that GGUF has: see QuantizeOptions::for_gguf.
void write_gguf(const std::filesystem::path& path, Model& model, const Tokenizers& tokenizers,
                const GgufOptions& options);

// A tokenizer of a kind that GGUF does not have.
class NoGgufTokenizer : public Error {
 public:
  explicit NoGgufTokenizer(std::string reason)
      : Error("[gguf] " + reason, ErrorKind::unsupported), reason_(std::move(reason)) {}
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

// The keys tokenizer.ggml.*; without a tokenizer the word that says so. Throws NoGgufTokenizer.
void add_gguf_tokenizer(GgufWriter& writer, const Tokenizers& tokenizers, int64_t vocabulary);

}  // namespace limpid
