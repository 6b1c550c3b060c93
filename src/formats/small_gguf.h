#pragma once
// Writes GGUF's bytes for tests, right ones and wrong ones.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

template <class T>
void append_raw(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

class GgufBuilder {
 public:
  static std::string length_and_text(std::string_view text) {
    std::string bytes;
    append_raw(bytes, static_cast<uint64_t>(text.size()));
    return bytes.append(text);
  }

  // A key with a value of a type (GGUF's number for it) as it lies in the file.
  void raw(std::string_view key, uint32_t type, std::string_view value) {
    keys_ += length_and_text(key);
    append_raw(keys_, type);
    keys_ += value;
    ++key_count;
  }
  template <class T>
  void number(std::string_view key, uint32_t type, T value) {
    std::string bytes;
    append_raw(bytes, value);
    raw(key, type, bytes);
  }
  void integer(std::string_view key, uint32_t value) { number(key, 4, value); }
  void real(std::string_view key, float value) { number(key, 6, value); }
  void flag(std::string_view key, bool value) { number(key, 7, static_cast<uint8_t>(value)); }
  void text(std::string_view key, std::string_view value) { raw(key, 8, length_and_text(value)); }
  void texts(std::string_view key, const std::vector<std::string>& values) {
    std::string bytes = array_head(8, values.size());
    for (const std::string& value : values) bytes += length_and_text(value);
    raw(key, 9, bytes);
  }
  template <class T>
  void numbers(std::string_view key, uint32_t type, const std::vector<T>& values) {
    std::string bytes = array_head(type, values.size());
    for (const T& value : values) append_raw(bytes, value);
    raw(key, 9, bytes);
  }
  static std::string array_head(uint32_t type, uint64_t count) {
    std::string bytes;
    append_raw(bytes, type);
    append_raw(bytes, count);
    return bytes;
  }

  // Rows first, as everywhere here.
  void tensor(std::string_view name, const std::vector<int64_t>& shape, uint32_t type, std::string_view data) {
    data_.resize((data_.size() + 31) / 32 * 32);
    tensor_at(name, shape, type, data_.size());
    data_ += data;
  }
  void tensor_at(std::string_view name, const std::vector<int64_t>& shape, uint32_t type, uint64_t offset) {
    tensors_ += length_and_text(name);
    append_raw(tensors_, static_cast<uint32_t>(shape.size()));
    for (size_t i = shape.size(); i-- > 0;) append_raw(tensors_, static_cast<uint64_t>(shape[i]));
    append_raw(tensors_, type);
    append_raw(tensors_, offset);
    ++tensor_count;
  }

  std::string bytes() const {
    std::string file = "GGUF";
    append_raw(file, version);
    append_raw(file, tensor_count);
    append_raw(file, key_count);
    file += keys_ + tensors_;
    file.resize((file.size() + 31) / 32 * 32);
    return file + data_;
  }

  uint32_t version = 3;
  uint64_t tensor_count = 0, key_count = 0;

 private:
  std::string keys_, tensors_, data_;
};

}  // namespace limpid
