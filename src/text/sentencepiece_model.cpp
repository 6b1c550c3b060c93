#include "text/sentencepiece_model.h"

#include <fmt/format.h>

#include "base/protobuf.h"

namespace limpid {
std::string sentencepiece_bytes(const SentencePieceModel& model) {
  ProtobufMessage whole;
  bool bytes = false;
  for (const SentencePiecePiece& piece : model.pieces) {
    ProtobufMessage one;
    const bool empty = piece.text.empty();
    one.text(1, empty ? fmt::format("<unused id {}>", &piece - model.pieces.data()) : piece.text);
    one.decimal(2, piece.score);
    const auto type = empty ? SentencePiecePiece::unused : piece.type;
    if (type != SentencePiecePiece::normal) one.number(3, type);
    whole.text(1, one.take());
    bytes = bytes || piece.type == SentencePiecePiece::byte;
  }
  ProtobufMessage trainer;
  trainer.number(3, model.bpe ? 2 : 1);
  trainer.number(4, model.pieces.size());
  trainer.number(35, bytes ? 1 : 0);
  whole.text(2, trainer.take());
  ProtobufMessage normalizer;
  normalizer.text(1, model.character_map.empty() ? "identity" : "user_defined");
  normalizer.text(2, model.character_map);
  normalizer.number(3, model.dummy_prefix ? 1 : 0);
  normalizer.number(4, model.fold_spaces ? 1 : 0);
  normalizer.number(5, 1);  // spaces are written "▁"
  whole.text(3, normalizer.take());
  return whole.take();
}

}  // namespace limpid
