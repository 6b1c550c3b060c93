// llama2.c's file of tokens, read as the SentencePiece model that it was made from.

#include <cstring>

#include "base/error.h"
#include "base/paths.h"
#include "formats/llama2c.h"
#include "text/bpe_tokenizer.h"
#include "text/sentencepiece_model.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/utf8.h"

namespace limpid {
namespace {

// The format writes spaces as spaces, and the tokens that begin and end a text between line ends.
SentencePiecePiece piece_of(std::string text, float score, size_t id) {
  if (id == 0) return {"<unk>", 0, SentencePiecePiece::unknown};
  if (id == 1) return {"<s>", 0, SentencePiecePiece::control};
  if (id == 2) return {"</s>", 0, SentencePiecePiece::control};
  if (byte_of_token(text)) return {std::move(text), score, SentencePiecePiece::byte};
  std::string marked;
  for (const char c : text) marked += c == ' ' ? std::string("\u2581") : std::string(1, c);
  return {std::move(marked), score, SentencePiecePiece::normal};
}

}  // namespace

std::shared_ptr<const Tokenizer> read_llama2c_tokens(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::string where = "[llama2.c] " + path.string();
  std::span<const std::byte> rest = file.bytes();
  const auto take = [&](size_t bytes) {
    check(bytes <= rest.size(), "{}: ends within a token: is it a whole file of llama2.c's tokens?", where);
    const auto taken = rest.first(bytes);
    rest = rest.subspan(bytes);
    return taken;
  };
  const auto number = [&] {
    int32_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  };
  const int32_t longest = number();
  check(longest >= 1 && longest <= 1 << 16, "{}: says its longest token has {} bytes: is it a file of tokens?", where,
        longest);
  SentencePieceModel model;
  while (!rest.empty()) {
    float score = 0;
    std::memcpy(&score, take(sizeof score).data(), sizeof score);
    const int32_t length = number();
    check(length >= 0 && length <= longest, "{}: token {} has {} bytes, the longest has {}: damaged?", where,
          model.pieces.size(), length, longest);
    const auto bytes = take(static_cast<size_t>(length));
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    check(!invalid_utf8(text), "{}: token {} is not UTF-8: damaged?", where, model.pieces.size());
    model.pieces.push_back(piece_of(std::move(text), score, model.pieces.size()));
  }
  return std::make_shared<SentencePieceTokenizer>(sentencepiece_bytes(model), where);
}

std::filesystem::path llama2c_tokens_beside(const std::filesystem::path& model, int64_t vocab) {
  for (const std::string& name : {fmt::format("tok{}.bin", vocab), std::string("tokenizer.bin")})
    if (auto path = model.parent_path() / name; path_exists(path)) return path;
  return {};
}

}  // namespace limpid
