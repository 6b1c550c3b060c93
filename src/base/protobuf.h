#pragma once
// Protocol buffer's wire format: a field is its number and kind, then a whole number in sevens of bits, the lowest
// first, or eight bytes, or four, or a length and so many bytes.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"

namespace limpid {

// Goes through the fields of one message.
class ProtobufFields {
 public:
  // `broken` is the text of the Error for bytes that are no message.
  ProtobufFields(std::string_view message, std::string_view broken) : rest_(message), broken_(broken) {}

  // Steps to the next field; false at the end.
  bool next() {
    if (rest_.empty()) return false;
    const uint64_t tag = varint();
    number_ = tag >> 3;
    kind_ = tag & 7;
    switch (kind_) {
      case kNumber: value_ = varint(); break;
      case kDouble: bytes_ = take(8); break;
      case kBytes: bytes_ = take(varint()); break;
      case kFloat: bytes_ = take(4); break;
      default: fail();
    }
    return true;
  }
  // Whether this is field so and so. One of another kind is none that the reader knows, whatever its number.
  bool is_number(uint64_t field) const { return number_ == field && kind_ == kNumber; }
  bool is_text(uint64_t field) const { return number_ == field && kind_ == kBytes; }  // or a message
  bool is_float(uint64_t field) const { return number_ == field && kind_ == kFloat; }
  uint64_t value() const { return value_; }          // of a number
  std::string_view bytes() const { return bytes_; }  // of everything else

 private:
  friend class ProtobufMessage;
  static constexpr uint64_t kNumber = 0, kDouble = 1, kBytes = 2, kFloat = 5;  // kinds

  [[noreturn]] void fail() const { throw Error(std::string(broken_)); }
  std::string_view take(uint64_t count) {
    if (count > rest_.size()) fail();
    const std::string_view result = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return result;
  }
  uint64_t varint() {
    uint64_t result = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(take(1)[0]);
      result |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return result;
    }
    fail();
  }

  std::string_view rest_, broken_;
  uint64_t number_ = 0, kind_ = 0, value_ = 0;
  std::string_view bytes_;
};

// A message that is written field by field.
class ProtobufMessage {
 public:
  ProtobufMessage& number(uint64_t field, uint64_t value) {
    tag(field, ProtobufFields::kNumber);
    return varint(value);
  }
  ProtobufMessage& text(uint64_t field, std::string_view value) {  // or a message
    tag(field, ProtobufFields::kBytes);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtobufMessage& decimal(uint64_t field, float value) { return raw(field, ProtobufFields::kFloat, value); }
  ProtobufMessage& decimal(uint64_t field, double value) { return raw(field, ProtobufFields::kDouble, value); }
  std::string take() { return std::move(bytes_); }

 private:
  void tag(uint64_t field, uint64_t kind) { varint(field << 3 | kind); }
  ProtobufMessage& varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  template <class Number>
  ProtobufMessage& raw(uint64_t field, uint64_t kind, Number value) {
    tag(field, kind);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof bytes);
    return *this;
  }

  std::string bytes_;
};

}  // namespace limpid
