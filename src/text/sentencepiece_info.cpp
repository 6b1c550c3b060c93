#include "text/sentencepiece_info.h"

#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace limpid {
namespace {

// Goes through the fields of one message in protocol buffer's wire format.
class Fields {
 public:
  Fields(std::string_view message, std::string_view where) : rest_(message), where_(where) {}

  // Steps to the next field; false at the end.
  bool next() {
    if (rest_.empty()) return false;
    const uint64_t tag = varint();
    number_ = tag >> 3;
    kind_ = tag & 7;
    switch (kind_) {
      case kNumber: value_ = varint(); break;
      case 1: take(8); break;
      case kText: bytes_ = take(varint()); break;
      case kFloat: bytes_ = take(4); break;
      default: broken();
    }
    return true;
  }
  // Whether this is field so and so. One of another kind is none that the library knows, whatever its number.
  bool is_number(uint64_t field) const { return number_ == field && kind_ == kNumber; }
  bool is_text(uint64_t field) const { return number_ == field && kind_ == kText; }  // or a message
  bool is_float(uint64_t field) const { return number_ == field && kind_ == kFloat; }
  uint64_t value() const { return value_; }          // of a number
  std::string_view bytes() const { return bytes_; }  // of a text, a message or a float

 private:
  static constexpr uint64_t kNumber = 0, kText = 2, kFloat = 5;  // kinds

  [[noreturn]] void broken() const { fail("{}: is not a whole SentencePiece model: copy or train it again", where_); }

  std::string_view take(uint64_t count) {
    if (count > rest_.size()) broken();
    const std::string_view result = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return result;
  }
  uint64_t varint() {  // seven bits a byte, the lowest first
    uint64_t result = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(take(1)[0]);
      result |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return result;
    }
    broken();
  }

  std::string_view rest_, where_;
  uint64_t number_ = 0, kind_ = 0, value_ = 0;
  std::string_view bytes_;
};

}  // namespace

SentencePieceInfo sentencepiece_info(std::string_view model, std::string_view where) {
  constexpr uint64_t kTrainer = 2, kNormalizer = 3;                                    // fields of the model
  constexpr uint64_t kModelType = 3, kBpe = 2;                                         // of the trainer
  constexpr uint64_t kName = 1, kCharacterMap = 2, kDummyPrefix = 3, kFoldSpaces = 4;  // of the normaliser
  SentencePieceInfo facts;
  for (Fields fields(model, where); fields.next();) {
    if (fields.is_text(kTrainer)) {
      for (Fields trainer(fields.bytes(), where); trainer.next();)
        if (trainer.is_number(kModelType)) facts.bpe = trainer.value() == kBpe;
    } else if (fields.is_text(kNormalizer)) {
      for (Fields normalizer(fields.bytes(), where); normalizer.next();) {
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
  std::vector<SentencePiecePiece> pieces;
  for (Fields fields(model, where); fields.next();) {
    if (!fields.is_text(kPiece)) continue;
    SentencePiecePiece& piece = pieces.emplace_back();
    for (Fields part(fields.bytes(), where); part.next();) {
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
