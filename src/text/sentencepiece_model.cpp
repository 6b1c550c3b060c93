// Protocol buffer's wire format: a field is its number and kind, then a number in sevens of bits, four bytes, or a
// length and so many bytes.

#include "text/sentencepiece_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace limpid {
namespace {

class Message {
 public:
  void number(int field, uint64_t value) {
    tag(field, 0);
    varint(value);
  }
  void text(int field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
  }
  void decimal(int field, float value) {
    tag(field, 5);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof raw);
  }
  std::string take() { return std::move(bytes_); }

 private:
  void tag(int field, int kind) { varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(kind)); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace

std::string sentencepiece_bytes(const SentencePieceModel& model) {
  Message whole;
  bool bytes = false;
  for (const SentencePiecePiece& piece : model.pieces) {
    Message one;
    const bool empty = piece.text.empty();
    one.text(1, empty ? fmt::format("<unused id {}>", &piece - model.pieces.data()) : piece.text);
    one.decimal(2, piece.score);
    const auto type = empty ? SentencePiecePiece::unused : piece.type;
    if (type != SentencePiecePiece::normal) one.number(3, type);
    whole.text(1, one.take());
    bytes = bytes || piece.type == SentencePiecePiece::byte;
  }
  Message trainer;
  trainer.number(3, model.bpe ? 2 : 1);
  trainer.number(4, model.pieces.size());
  trainer.number(35, bytes ? 1 : 0);
  whole.text(2, trainer.take());
  Message normalizer;
  normalizer.text(1, model.character_map.empty() ? "identity" : "user_defined");
  normalizer.text(2, model.character_map);
  normalizer.number(3, model.dummy_prefix ? 1 : 0);
  normalizer.number(4, model.fold_spaces ? 1 : 0);
  normalizer.number(5, 1);  // spaces are written "▁"
  whole.text(3, normalizer.take());
  return whole.take();
}

}  // namespace limpid
