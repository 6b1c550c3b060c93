#include "text/sentencepiece_info.h"

#include <cstdint>
#include <cstring>

#include "base/protobuf.h"

namespace limpid {
namespace {

std::string not_whole(std::string_view where) {
  return fmt::format("{}: is not a whole SentencePiece model: copy or train it again", where);
}

}  // namespace

SentencePieceInfo sentencepiece_info(std::string_view model, std::string_view where) {
  constexpr uint64_t kTrainer = 2, kNormalizer = 3;                                    // fields of the model
  constexpr uint64_t kModelType = 3, kBpe = 2;                                         // of the trainer
  constexpr uint64_t kName = 1, kCharacterMap = 2, kDummyPrefix = 3, kFoldSpaces = 4;  // of the normaliser
  const std::string broken = not_whole(where);
  SentencePieceInfo facts;
  for (ProtobufFields fields(model, broken); fields.next();) {
    if (fields.is_text(kTrainer)) {
      for (ProtobufFields trainer(fields.bytes(), broken); trainer.next();)
        if (trainer.is_number(kModelType)) facts.bpe = trainer.value() == kBpe;
    } else if (fields.is_text(kNormalizer)) {
      for (ProtobufFields normalizer(fields.bytes(), broken); normalizer.next();) {
        if (normalizer.is_text(kName)) facts.rule = normalizer.bytes();
        if (normalizer.is_text(kCharacterMap)) facts.character_map = normalizer.bytes();
        if (normalizer.is_number(kDummyPrefix)) facts.dummy_prefix = normalizer.value() != 0;
        if (normalizer.is_number(kFoldSpaces)) facts.fold_spaces = normalizer.value() != 0;
      }
    }
  }
  return facts;
}

std::vector<SentencePiecePiece> sentencepiece_pieces(std::string_view model, std::string_view where) {
  constexpr uint64_t kPiece = 1;                        // field of the model
  constexpr uint64_t kText = 1, kScore = 2, kType = 3;  // of a piece
  const std::string broken = not_whole(where);
  std::vector<SentencePiecePiece> pieces;
  for (ProtobufFields fields(model, broken); fields.next();) {
    if (!fields.is_text(kPiece)) continue;
    SentencePiecePiece& piece = pieces.emplace_back();
    for (ProtobufFields part(fields.bytes(), broken); part.next();) {
      if (part.is_text(kText)) piece.text = part.bytes();
      if (part.is_float(kScore)) std::memcpy(&piece.score, part.bytes().data(), sizeof(float));
      if (part.is_number(kType) && part.value() >= SentencePiecePiece::normal &&
          part.value() <= SentencePiecePiece::byte)
        piece.type = static_cast<SentencePiecePiece::Type>(part.value());
    }
  }
  return pieces;
}

}  // namespace limpid
