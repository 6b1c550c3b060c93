#include "formats/gguf_writer.h"

#include <span>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "formats/gguf.h"

namespace limpid {
namespace {

constexpr uint64_t kAlignment = 32;
enum ValueType : uint32_t { u8 = 0, u32 = 4, i32 = 5, f32 = 6, boolean = 7, text_type = 8, array = 9 };

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_text(std::string& bytes, std::string_view text) {
  append(bytes, static_cast<uint64_t>(text.size()));
  bytes += text;
}

uint64_t aligned(uint64_t at) { return (at + kAlignment - 1) / kAlignment * kAlignment; }

int64_t rows_of(const GgufTensorToWrite& tensor) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < tensor.shape.size(); ++i) rows *= tensor.shape[i];
  return rows;
}

uint64_t size_of(const GgufTensorToWrite& tensor) {
  return static_cast<uint64_t>(rows_of(tensor) * bytes_of(tensor.type, tensor.shape.back()));
}

void append_head(std::string& head, const GgufTensorToWrite& tensor, uint64_t offset, const std::string& where) {
  const GgufType* type = gguf_type(name_of(tensor.type));
  check(type != nullptr && tensor.shape.back() % type->numbers == 0,
        "{}: tensor {} has rows of {} numbers of type {}, which GGUF cannot hold", where, in_quotes(tensor.name),
        tensor.shape.back(), name_of(tensor.type));
  append_text(head, tensor.name);
  append(head, static_cast<uint32_t>(tensor.shape.size()));
  for (size_t i = tensor.shape.size(); i-- > 0;) append(head, static_cast<uint64_t>(tensor.shape[i]));
  append(head, type->id);
  append(head, offset);
}

void write_tensor(AtomicFile& file, const GgufTensorToWrite& tensor) {
  const auto size = static_cast<size_t>(size_of(tensor));
  if (!tensor.row_at) {
    file.write(std::span(tensor.data, size));
  } else {
    const int64_t count = tensor.shape.size() == 1 ? tensor.shape[0] : rows_of(tensor);
    const auto row_bytes = static_cast<int64_t>(size) / count;
    std::vector<std::byte> rows(size);
    for (int64_t i = 0; i < count; ++i)
      std::copy_n(tensor.data + tensor.row_at(i) * row_bytes, row_bytes, rows.data() + i * row_bytes);
    file.write(rows);
  }
  file.write(std::string(aligned(size) - size, '\0'));
}

}  // namespace

void GgufWriter::key(std::string_view name, uint32_t type) {
  append_text(keys_, name);
  append(keys_, type);
  ++key_count_;
}

void GgufWriter::integer(std::string_view name, uint32_t value) { key(name, u32), append(keys_, value); }
void GgufWriter::real(std::string_view name, float value) { key(name, f32), append(keys_, value); }
void GgufWriter::flag(std::string_view name, bool value) {
  key(name, boolean), append(keys_, static_cast<uint8_t>(value));
}
void GgufWriter::text(std::string_view name, std::string_view value) {
  key(name, text_type), append_text(keys_, value);
}

void GgufWriter::texts(std::string_view name, const std::vector<std::string>& values) {
  key(name, array), append(keys_, static_cast<uint32_t>(text_type)),
      append(keys_, static_cast<uint64_t>(values.size()));
  for (const std::string& value : values) append_text(keys_, value);
}
void GgufWriter::reals(std::string_view name, const std::vector<float>& values) {
  key(name, array), append(keys_, static_cast<uint32_t>(f32)), append(keys_, static_cast<uint64_t>(values.size()));
  for (const float value : values) append(keys_, value);
}
void GgufWriter::integers(std::string_view name, const std::vector<int32_t>& values) {
  key(name, array), append(keys_, static_cast<uint32_t>(i32)), append(keys_, static_cast<uint64_t>(values.size()));
  for (const int32_t value : values) append(keys_, value);
}
void GgufWriter::bytes(std::string_view name, std::string_view values) {
  key(name, array), append(keys_, static_cast<uint32_t>(u8)), append(keys_, static_cast<uint64_t>(values.size()));
  keys_ += values;
}

void GgufWriter::write(const std::filesystem::path& path) const {
  const std::string where = "[gguf] " + path.string();
  std::string head = "GGUF";
  append(head, uint32_t{3});
  append(head, static_cast<uint64_t>(tensors_.size()));
  append(head, key_count_);
  head += keys_;
  uint64_t offset = 0;
  for (const GgufTensorToWrite& tensor : tensors_) {
    append_head(head, tensor, offset, where);
    offset += aligned(size_of(tensor));
  }
  head.resize(aligned(head.size()), '\0');
  AtomicFile file(path);
  file.write(head);
  for (const GgufTensorToWrite& tensor : tensors_) write_tensor(file, tensor);
  file.commit();
}

}  // namespace limpid
