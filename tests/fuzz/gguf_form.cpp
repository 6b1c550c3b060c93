#include "fuzz/gguf_form.h"

#include <cstring>

namespace limpid::fuzz {
namespace {

constexpr size_t kAlignment = 32;
constexpr uint64_t kMost = 1 << 16;  // of anything that is counted: seeds are small

// How many bytes a number of this type has; 0: it is no number.
size_t width_of(uint32_t type) {
  constexpr size_t kWidths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type < std::size(kWidths) ? kWidths[type] : 0;
}

class Source {
 public:
  explicit Source(const std::string& bytes) : bytes_(bytes) {}

  std::string take(uint64_t length) {
    if (length > bytes_.size() - at_) {
      whole_ = false;
      return {};
    }
    at_ += length;
    return bytes_.substr(at_ - length, length);
  }
  template <class T>
  T number() {
    T value = 0;
    const std::string taken = take(sizeof value);
    std::memcpy(&value, taken.data(), taken.size());
    return value;
  }
  uint64_t count() {
    const auto value = number<uint64_t>();
    if (value > kMost) whole_ = false;
    return whole_ ? value : 0;
  }
  std::string text() { return take(count()); }
  std::string value(uint32_t type) {
    if (type == GgufForm::kText) return text();
    if (width_of(type) == 0) whole_ = false;
    return take(width_of(type));
  }
  bool whole() const { return whole_; }
  size_t at() const { return at_; }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
  bool whole_ = true;
};

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_text(std::string& bytes, const std::string& text) {
  append(bytes, static_cast<uint64_t>(text.size()));
  bytes += text;
}

void append_value(std::string& bytes, uint32_t type, const std::string& value) {
  if (type == GgufForm::kText)
    append_text(bytes, value);
  else
    bytes += value;
}

}  // namespace

std::optional<GgufForm> GgufForm::parse(const std::string& bytes) {
  Source source(bytes);
  GgufForm form;
  if (source.take(4) != "GGUF") return std::nullopt;
  form.version = source.number<uint32_t>();
  const uint64_t tensors = source.count(), entries = source.count();
  for (uint64_t i = 0; i < entries && source.whole(); ++i) {
    Metadata entry{.key = source.text(), .type = source.number<uint32_t>()};
    uint64_t values = 1;
    if (entry.type == kList) {
      entry.element_type = source.number<uint32_t>();
      values = source.count();
    }
    for (uint64_t k = 0; k < values && source.whole(); ++k)
      entry.values.push_back(source.value(entry.type == kList ? entry.element_type : entry.type));
    form.metadata.push_back(std::move(entry));
  }
  for (uint64_t i = 0; i < tensors && source.whole(); ++i) {
    Tensor tensor{.name = source.text()};
    const auto dimensions = source.number<uint32_t>();
    for (uint32_t d = 0; d < dimensions && source.whole(); ++d) tensor.sizes.push_back(source.number<uint64_t>());
    tensor.type = source.number<uint32_t>();
    tensor.offset = source.number<uint64_t>();
    form.tensors.push_back(std::move(tensor));
  }
  if (!source.whole()) return std::nullopt;
  const size_t begin = (source.at() + kAlignment - 1) / kAlignment * kAlignment;
  form.numbers = bytes.substr(std::min(begin, bytes.size()));
  return form;
}

std::string GgufForm::bytes() const {
  std::string out = "GGUF";
  append(out, version);
  append(out, static_cast<uint64_t>(tensors.size()));
  append(out, static_cast<uint64_t>(metadata.size()));
  for (const Metadata& entry : metadata) {
    append_text(out, entry.key);
    append(out, entry.type);
    if (entry.type == kList) {
      append(out, entry.element_type);
      append(out, static_cast<uint64_t>(entry.values.size()));
    }
    for (const std::string& value : entry.values)
      append_value(out, entry.type == kList ? entry.element_type : entry.type, value);
  }
  for (const Tensor& tensor : tensors) {
    append_text(out, tensor.name);
    append(out, static_cast<uint32_t>(tensor.sizes.size()));
    for (const uint64_t size : tensor.sizes) append(out, size);
    append(out, tensor.type);
    append(out, tensor.offset);
  }
  out.resize((out.size() + kAlignment - 1) / kAlignment * kAlignment);
  return out + numbers;
}

}  // namespace limpid::fuzz
