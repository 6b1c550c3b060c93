#include "text/sentencepiece_facts.h"

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
    switch (tag & 7) {
      case 0: value_ = varint(); break;
      case 1: bytes_ = take(8); break;
      case 2: bytes_ = take(varint()); break;
      case 5: bytes_ = take(4); break;
      default: broken();
    }
    return true;
  }
  uint64_t number() const { return number_; }
  uint64_t value() const { return value_; }          // of a number
  std::string_view bytes() const { return bytes_; }  // of a string or message

 private:
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
  uint64_t number_ = 0, value_ = 0;
  std::string_view bytes_;
};

}  // namespace

SentencePieceFacts sentencepiece_facts(std::string_view model, std::string_view where) {
  constexpr uint64_t kTrainer = 2, kNormalizer = 3;                                    // fields of the model
  constexpr uint64_t kModelType = 3, kBpe = 2;                                         // of the trainer
  constexpr uint64_t kName = 1, kCharacterMap = 2, kDummyPrefix = 3, kFoldSpaces = 4;  // of the normaliser
  SentencePieceFacts facts;
  for (Fields fields(model, where); fields.next();) {
    if (fields.number() == kTrainer) {
      for (Fields trainer(fields.bytes(), where); trainer.next();)
        if (trainer.number() == kModelType) facts.bpe = trainer.value() == kBpe;
    } else if (fields.number() == kNormalizer) {
      for (Fields normalizer(fields.bytes(), where); normalizer.next();) {
        if (normalizer.number() == kName) facts.rule = normalizer.bytes();
        if (normalizer.number() == kCharacterMap) facts.character_map = normalizer.bytes();
        if (normalizer.number() == kDummyPrefix) facts.dummy_prefix = normalizer.value() != 0;
        if (normalizer.number() == kFoldSpaces) facts.fold_spaces = normalizer.value() != 0;
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
    if (fields.number() != kPiece) continue;
    SentencePiecePiece& piece = pieces.emplace_back();
    for (Fields part(fields.bytes(), where); part.next();) {
      if (part.number() == kText) piece.text = part.bytes();
      if (part.number() == kScore && part.bytes().size() == sizeof(float))
        std::memcpy(&piece.score, part.bytes().data(), sizeof(float));
      if (part.number() == kType) piece.type = static_cast<SentencePiecePiece::Type>(part.value());
    }
  }
  return pieces;
}

}  // namespace limpid
