#include "formats/safetensors.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/json.h"

namespace limpid {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;  // bytes; the limit of the format's own reader

// Types of the format that Limpid lists but does not compute with, and their bits.
constexpr std::pair<std::string_view, int> kOtherTypes[] = {
    {"I64", 64},    {"U64", 64},    {"C64", 64},    {"I32", 32}, {"U32", 32},        {"I16", 16},
    {"U16", 16},    {"I8", 8},      {"U8", 8},      {"BOOL", 8}, {"F8_E5M2", 8},     {"F8_E4M3", 8},
    {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4},   {"F8_E5M2FNUZ", 8}, {"F8_E4M3FNUZ", 8}};

std::optional<DType> readable_type(std::string_view name) {
  const auto type = dtype_named(name);
  return type && !is_quantized(*type) ? type : std::nullopt;
}

// Bits of one number; 0 for a type that the format does not have.
int bits_of(std::string_view type_name) {
  if (const auto type = readable_type(type_name)) return static_cast<int>(8 * bytes_of(*type));
  for (const auto& [name, bits] : kOtherTypes)
    if (name == type_name) return bits;
  return 0;
}

// What a file that is no safetensors file often is, by how it begins.
std::string_view mistaken_for(std::string_view text) {
  if (text.starts_with("version https://git-lfs"))
    return ": this is a Git LFS pointer; fetch the file with git lfs pull";
  if (text.starts_with("PK\x03\x04")) return ": this is a PyTorch or zip archive; convert it to safetensors first";
  if (text.starts_with("GGUF")) return ": this is a GGUF file";
  if (text.starts_with('<')) return ": this is a web page; was the download refused?";
  return ": truncated download?";
}

std::string_view header_of(std::span<const std::byte> file, std::string_view where) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  uint64_t length = 0;
  check(text.size() >= sizeof(length), "{}: has {}, less than the length of a header{}", where, bytes_text(text.size()),
        [&] { return mistaken_for(text); });
  std::memcpy(&length, text.data(), sizeof(length));
  check(length <= text.size() - sizeof(length), "{}: header says {}, the file has {}{}", where, bytes_text(length),
        bytes_text(text.size()), [&] { return mistaken_for(text); });
  check(length <= kMaxHeader, "{}: header says {}, more than the {} that are allowed: is it a safetensors file?", where,
        bytes_text(length), bytes_text(kMaxHeader));
  const std::string_view header = text.substr(sizeof(length), length);
  check(header.starts_with('{'), "{}: header does not begin with {{: is it a safetensors file?", where);
  return header;
}

const json& field(const json& object, const char* key, std::string_view where) {
  const auto found = object.find(key);
  check(found != object.end(), "{} has no {}: damaged header?", where, key);
  return *found;
}

// A list of whole numbers that are not negative.
std::vector<int64_t> whole_numbers(const json& list, const char* key, std::string_view where) {
  check(list.is_array(), "{}: {} is not a list: damaged header?", where, key);
  std::vector<int64_t> numbers;
  for (const json& item : list) {
    const bool whole = item.is_number_unsigned() && item.get<uint64_t>() <= INT64_MAX;
    check(whole, "{}: {} holds something else than whole numbers from 0: damaged header?", where, key);
    numbers.push_back(item.get<int64_t>());
  }
  return numbers;
}

// Bytes of a tensor. Zeros do not hide an overflow of the rest: others multiply the rest too, for strides.
int64_t size_of(const std::vector<int64_t>& shape, int bits, std::string_view where) {
  int64_t total_bits = bits;
  bool empty = false;
  for (const int64_t n : shape) {
    const bool overflow = __builtin_mul_overflow(total_bits, std::max<int64_t>(n, 1), &total_bits);
    check(!overflow, "{}: shape is too large for any memory: damaged header?", where);
    empty = empty || n == 0;
  }
  if (empty) return 0;
  check(total_bits % 8 == 0, "{}: takes {} bits, no whole number of bytes: damaged header?", where, total_bits);
  return total_bits / 8;
}

SafetensorsEntry parse_entry(const std::string& name, const json& value, std::span<const std::byte> data,
                             std::string_view file) {
  const std::string where = fmt::format("{}: tensor {}", file, in_quotes(name));
  check(value.is_object(), "{} is not an object: damaged header?", where);
  const json& type_name = field(value, "dtype", where);
  check(type_name.is_string(), "{}: dtype is not a text: damaged header?", where);
  SafetensorsEntry entry{.name = name, .type_name = type_name.get<std::string>()};
  entry.type = readable_type(entry.type_name);
  const int bits = bits_of(entry.type_name);
  check(bits != 0, "{}: unknown type of number {}: Limpid reads F64, F32, F16 and BF16", where,
        in_quotes(entry.type_name));
  entry.shape = whole_numbers(field(value, "shape", where), "shape", where);
  const int64_t size = size_of(entry.shape, bits, where);

  const std::vector<int64_t> offsets = whole_numbers(field(value, "data_offsets", where), "data_offsets", where);
  check(offsets.size() == 2, "{}: data_offsets has {} numbers instead of 2: damaged header?", where, offsets.size());
  const int64_t begin = offsets[0], end = offsets[1], available = static_cast<int64_t>(data.size());
  check(begin <= end, "{}: begins at {} after its end at {}: damaged header?", where, begin, end);
  check(end <= available, "{}: ends at {} of {}: truncated download?", where, bytes_text(end), bytes_text(available));
  check(end - begin == size, "{}: takes {} bytes in the file, its shape takes {}: damaged header?", where, end - begin,
        size);
  entry.bytes = data.subspan(begin, size);
  return entry;
}

std::map<std::string, std::string> parse_metadata(const json& value, std::string_view where) {
  check(value.is_object(), "{}: __metadata__ is not an object: damaged header?", where);
  std::map<std::string, std::string> metadata;
  for (const auto& [key, text] : value.items()) {
    check(text.is_string(), "{}: __metadata__ {} is not a text: damaged header?", where, in_quotes(key));
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

// Sorts the entries by place. The tensors must fill the data exactly: what lies between or after could be anything.
void check_layout(std::vector<SafetensorsEntry>& entries, std::span<const std::byte> data, std::string_view where) {
  const auto place = [](const SafetensorsEntry& entry) {
    return std::tuple(entry.bytes.data(), entry.bytes.size(), std::string_view(entry.name));
  };
  std::sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  const std::byte* end = data.data();
  for (const SafetensorsEntry& entry : entries) {
    check(entry.bytes.data() >= end, "{}: tensor {} overlaps the one before it: damaged header?", where,
          in_quotes(entry.name));
    check(entry.bytes.data() == end, "{}: a hole of {} lies before tensor {}: damaged header?", where,
          bytes_text(entry.bytes.data() - end), in_quotes(entry.name));
    end = entry.bytes.data() + entry.bytes.size();
  }
  const auto left = static_cast<uint64_t>(data.data() + data.size() - end);
  check(left == 0, "{}: {} follow the last tensor: is something appended to the file?", where, bytes_text(left));
}

}  // namespace

int64_t SafetensorsEntry::count() const {
  int64_t product = 1;
  for (const int64_t n : shape) product *= n;
  return product;
}

SafetensorsContents parse_safetensors(std::span<const std::byte> file, std::string_view where) {
  const std::string_view header = header_of(file, where);
  const std::span<const std::byte> data = file.subspan(sizeof(uint64_t) + header.size());
  const json object = parse_json(header, fmt::format("{}: header", where));
  SafetensorsContents contents;
  for (const auto& [name, value] : object.items()) {
    if (name == "__metadata__")
      contents.metadata = parse_metadata(value, where);
    else
      contents.entries.push_back(parse_entry(name, value, data, where));
  }
  check_layout(contents.entries, data, where);
  return contents;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(path), contents_(parse_safetensors(file_.bytes(), "[safetensors] " + path.string())) {
  for (size_t i = 0; i < contents_.entries.size(); ++i) index_.emplace(contents_.entries[i].name, i);
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &contents_.entries[found->second];
}

const SafetensorsEntry& SafetensorsFile::get(std::string_view name) const {
  return require_readable(find(name), name, "[safetensors] " + path().string());
}

const SafetensorsEntry& require_readable(const SafetensorsEntry* entry, std::string_view name, std::string_view where) {
  check(entry != nullptr, "{}: has no tensor {}: is it of another family of models?", where, in_quotes(name));
  check(entry->type.has_value(), "{}: tensor {} holds {} numbers: Limpid reads F64, F32, F16 and BF16", where,
        in_quotes(name), entry->type_name);
  return *entry;
}

void read_reals(const SafetensorsEntry& entry, real* out) {
  require_readable(&entry, entry.name, "[safetensors]");
  to_real(*entry.type, entry.bytes.data(), entry.count(), out);
}

}  // namespace limpid
