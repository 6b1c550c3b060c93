#pragma once
// llama2.c's files: Llama models for teaching, as one file of numbers and one of tokens.
//
//   version 0: seven int32: width, feed-forward width, layers, heads, key heads, vocabulary (negative: the output is
//   not
//              the embedding), positions; then float32 numbers, kind by kind: embedding, norms, query of all layers, …
//   versions 1 and 2: 256 bytes: "ak42" (as a number), the version, the seven int32, whether the output is the
//   embedding
//              (a byte), in version 2 numbers per group (int32); then norms, embedding, matrices: float32, or of
//              version 2 int8 with a float32 factor for each group, a matrix's integers before its scales
//   tokens:    the longest token's bytes (int32); each token's score (float32), length (int32) and bytes

#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/file.h"
#include "formats/weight_holder.h"
#include "models/model.h"
#include "text/tokenizer.h"

namespace limpid {

class Llama2cFile {
 public:
  explicit Llama2cFile(const std::filesystem::path& path);

  Config config() const;
  // Lets the model's weights point into the file where they can; rows of queries and keys are brought into our order,
  // 8-bit numbers become reals. The file must outlive the model's use.
  void attach(Model& model, WeightHolder& holder) const;

 private:
  struct Part {
    int64_t count = 0;
    const std::byte* bytes = nullptr;
    bool grouped = false;  // int8 and scales
  };
  void read_header();
  void read_parts();
  const Part& part(const Weight& weight) const;
  void add(const std::string& name, int64_t layers, int64_t count, bool grouped = false);
  void skip(int64_t numbers);
  void read_part(const Part& part, real* out) const;
  [[noreturn]] void wrong(const std::string& what) const;

  MappedFile file_;
  int version_ = 0;
  int64_t width_ = 0, ffn_ = 0, layers_ = 0, heads_ = 0, kv_heads_ = 0, vocab_ = 0, positions_ = 0;
  bool tied_ = true;
  int64_t group_ = 0;
  size_t at_ = 0;                                // while parts are read
  std::unordered_map<std::string, Part> parts_;  // by name
};

// A file of tokens; `where` they are read to the file's end, so their number tells the vocabulary's size.
std::shared_ptr<const Tokenizer> read_llama2c_tokens(const std::filesystem::path& path);

// The file of tokens that belongs to a model's file: beside it tok512.bin (the vocabulary's size), tokenizer.bin. Empty
// where there is none.
std::filesystem::path llama2c_tokens_beside(const std::filesystem::path& model, int64_t vocab);

}  // namespace limpid
