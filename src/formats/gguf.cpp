#include "formats/gguf.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/json.h"
#include "base/paths.h"

namespace limpid {
namespace {

constexpr std::array<GgufType, 26> kTypes = {
    {{0, "F32", 1, 4},         {1, "F16", 1, 2},       {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
     {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},    {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},
     {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110}, {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
     {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292}, {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
     {18, "IQ3_XXS", 256, 98}, {20, "IQ4_NL", 32, 18}, {21, "IQ3_S", 256, 110},  {23, "IQ4_XS", 256, 136},
     {24, "I8", 1, 1},         {25, "I16", 1, 2},      {26, "I32", 1, 4},        {27, "I64", 1, 8},
     {28, "F64", 1, 8},        {30, "BF16", 1, 2}}};

enum ValueType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, array, u64, i64, f64 };

uint64_t size_of(uint32_t type) {  // bytes of a number; 0: no number
  switch (type) {
    case u8:
    case i8:
    case boolean: return 1;
    case u16:
    case i16: return 2;
    case u32:
    case i32:
    case f32: return 4;
    case u64:
    case i64:
    case f64: return 8;
    default: return 0;
  }
}

// Reads on through the bytes of a file, never beyond its end.
class Cursor {
 public:
  Cursor(std::span<const std::byte> file, const std::string& where) : file_(file), where_(where) {}

  const std::string& where() const { return where_; }
  uint64_t at() const { return at_; }
  uint64_t left() const { return file_.size() - at_; }

  std::span<const std::byte> take(uint64_t bytes) {
    check(bytes <= left(), "{}: ends in the middle of its header, at {}: truncated download?", where_,
          bytes_text(file_.size()));
    const auto result = file_.subspan(at_, bytes);
    at_ += bytes;
    return result;
  }
  template <class T>
  T number() {
    T result;
    std::memcpy(&result, take(sizeof(T)).data(), sizeof(T));
    return result;
  }
  std::string_view text() {
    const auto length = number<uint64_t>();
    check(length <= left(), "{}: a text of {} stands in a file of {}: truncated or damaged?", where_,
          bytes_text(length), bytes_text(file_.size()));
    const auto bytes = take(length);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // A count of things that take at least so many bytes each: more than the file has room for is none.
  uint64_t count(uint64_t least_bytes, const char* what) {
    const auto result = number<uint64_t>();
    check(result <= left() / least_bytes, "{}: says it has {} {}, more than a file of {} can hold: damaged?", where_,
          result, what, bytes_text(file_.size()));
    return result;
  }

 private:
  std::span<const std::byte> file_;
  const std::string& where_;
  uint64_t at_ = 0;
};

GgufValue number_value(Cursor& cursor, uint32_t type) {
  switch (type) {
    case u8: return static_cast<int64_t>(cursor.number<uint8_t>());
    case i8: return static_cast<int64_t>(cursor.number<int8_t>());
    case u16: return static_cast<int64_t>(cursor.number<uint16_t>());
    case i16: return static_cast<int64_t>(cursor.number<int16_t>());
    case u32: return static_cast<int64_t>(cursor.number<uint32_t>());
    case i32: return static_cast<int64_t>(cursor.number<int32_t>());
    case u64: return static_cast<int64_t>(std::min<uint64_t>(cursor.number<uint64_t>(), INT64_MAX));
    case i64: return cursor.number<int64_t>();
    case f32: return static_cast<double>(cursor.number<float>());
    case f64: return cursor.number<double>();
    default: return cursor.number<uint8_t>() != 0;
  }
}

double as_double(const GgufValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return std::get<double>(value);
}

GgufValue parse_array(Cursor& cursor, std::string_view key) {
  const auto type = cursor.number<uint32_t>();
  GgufArray result;
  result.of_texts = type == text;
  check(type == text || size_of(type) > 0, "{}: key {} is an array of type {}: Limpid reads numbers and texts",
        cursor.where(), in_quotes(key), type);
  const uint64_t count = cursor.count(type == text ? sizeof(uint64_t) : size_of(type), "values in an array");
  if (result.of_texts) {
    result.texts.reserve(count);
    for (uint64_t i = 0; i < count; ++i) result.texts.push_back(cursor.text());
  } else {
    result.numbers.reserve(count);
    for (uint64_t i = 0; i < count; ++i) result.numbers.push_back(as_double(number_value(cursor, type)));
  }
  return result;
}

GgufValue parse_value(Cursor& cursor, std::string_view key) {
  const auto type = cursor.number<uint32_t>();
  if (type == text) return cursor.text();
  if (type == array) return parse_array(cursor, key);
  check(size_of(type) > 0, "{}: key {} is of type {}, which GGUF does not have: damaged?", cursor.where(),
        in_quotes(key), type);
  return number_value(cursor, type);
}

struct Placed {
  GgufTensor tensor;
  uint64_t offset;
};

Placed parse_tensor(Cursor& cursor) {
  Placed placed;
  GgufTensor& tensor = placed.tensor;
  tensor.name = cursor.text();
  const auto dimensions = cursor.number<uint32_t>();
  check(dimensions >= 1 && dimensions <= 4, "{}: tensor {} has {} dimensions: GGUF has 1 to 4; damaged?",
        cursor.where(), in_quotes(tensor.name), dimensions);
  int64_t product = 1;
  for (uint32_t i = 0; i < dimensions; ++i) {
    const auto size = cursor.number<uint64_t>();
    const bool fits = size >= 1 && size <= INT64_MAX / 16 &&
                      !__builtin_mul_overflow(product, static_cast<int64_t>(size), &product) &&
                      product <= INT64_MAX / 16;
    check(fits, "{}: tensor {} has a dimension of {}: too large for any memory; damaged?", cursor.where(),
          in_quotes(tensor.name), size);
    tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(size));
  }
  tensor.type_id = cursor.number<uint32_t>();
  tensor.type = gguf_type(tensor.type_id);
  placed.offset = cursor.number<uint64_t>();
  return placed;
}

void place(Placed& placed, std::span<const std::byte> data, uint64_t alignment, const std::string& where) {
  GgufTensor& tensor = placed.tensor;
  check(placed.offset % alignment == 0, "{}: tensor {} begins at {}, no multiple of {}: damaged?", where,
        in_quotes(tensor.name), placed.offset, alignment);
  check(placed.offset <= data.size(), "{}: tensor {} begins at {} of {}: truncated download?", where,
        in_quotes(tensor.name), bytes_text(placed.offset), bytes_text(data.size()));
  if (!tensor.type) return;  // whoever asks for its numbers gets told
  check(tensor.shape.back() % tensor.type->numbers == 0,
        "{}: tensor {} has rows of {} numbers, {} has blocks of {}: damaged?", where, in_quotes(tensor.name),
        tensor.shape.back(), tensor.type->name, tensor.type->numbers);
  const auto size = static_cast<uint64_t>(tensor.count() / tensor.type->numbers * tensor.type->bytes);
  check(size <= data.size() - placed.offset, "{}: tensor {} takes {} from {} of {}: truncated download?", where,
        in_quotes(tensor.name), bytes_text(size), bytes_text(placed.offset), bytes_text(data.size()));
  tensor.bytes = data.subspan(placed.offset, size);
}

void check_header(Cursor& cursor) {
  constexpr std::string_view magic = "GGUF";
  const bool gguf = cursor.left() >= 8 && std::memcmp(cursor.take(4).data(), magic.data(), 4) == 0;
  check(gguf, "{}: does not begin with GGUF: is it a GGUF file, and whole?", cursor.where());
  const auto version = cursor.number<uint32_t>();
  check(version != 0x02000000 && version != 0x03000000, "{}: is big-endian: convert it on the machine that made it",
        cursor.where());
  check(version == 2 || version == 3, "{}: is of version {}: Limpid reads 2 and 3; convert it again", cursor.where(),
        version);
}

uint64_t alignment_of(const GgufContents& contents, const std::string& where) {
  const auto found = contents.values.find("general.alignment");
  if (found == contents.values.end()) return 32;
  const auto* value = std::get_if<int64_t>(&found->second);
  check(value && *value >= 1 && *value <= 1 << 20 && (*value & (*value - 1)) == 0,
        "{}: general.alignment is not a power of two up to 2^20: damaged?", where);
  return static_cast<uint64_t>(*value);
}

}  // namespace

const GgufType* gguf_type(uint32_t id) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const GgufType& type) { return type.id == id; });
  return found == kTypes.end() ? nullptr : &*found;
}

const GgufType* gguf_type(std::string_view name) {
  const auto found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const GgufType& type) { return type.name == name; });
  return found == kTypes.end() ? nullptr : &*found;
}

int64_t GgufTensor::count() const {
  int64_t product = 1;
  for (const int64_t n : shape) product *= n;
  return product;
}

GgufContents parse_gguf(std::span<const std::byte> file, const std::string& where) {
  Cursor cursor(file, where);
  check_header(cursor);
  const uint64_t tensors = cursor.number<uint64_t>();
  const uint64_t keys = cursor.count(13, "keys");
  check(tensors <= cursor.left() / 32, "{}: says it has {} tensors, more than a file of {} can hold: damaged?", where,
        tensors, bytes_text(file.size()));
  GgufContents contents;
  for (uint64_t i = 0; i < keys; ++i) {
    const std::string key(cursor.text());
    const bool fresh = contents.values.emplace(key, parse_value(cursor, key)).second;
    check(fresh, "{}: has the key {} twice: damaged?", where, in_quotes(key));
  }
  std::vector<Placed> placed;
  for (uint64_t i = 0; i < tensors; ++i) placed.push_back(parse_tensor(cursor));
  const uint64_t alignment = alignment_of(contents, where);
  const uint64_t begin = (cursor.at() + alignment - 1) / alignment * alignment;
  const auto data = begin < file.size() ? file.subspan(begin) : std::span<const std::byte>();
  for (Placed& one : placed) {
    place(one, data, alignment, where);
    contents.tensors.push_back(std::move(one.tensor));
  }
  return contents;
}

namespace {

// "name-00002-of-00003.gguf" with another number; the same path where it has none.
std::filesystem::path numbered(const std::filesystem::path& path, int64_t number) {
  constexpr size_t length = std::string_view("-00001-of-00003").size();
  const std::string stem = path.stem().string();
  const std::string end = stem.size() > length ? stem.substr(stem.size() - length) : "";
  const auto digits = [&](size_t at) {
    return std::all_of(end.begin() + static_cast<ptrdiff_t>(at), end.begin() + static_cast<ptrdiff_t>(at) + 5,
                       [](char c) { return c >= '0' && c <= '9'; });
  };
  if (end.empty() || end[0] != '-' || end.substr(6, 4) != "-of-" || !digits(1) || !digits(10)) return path;
  const std::string name = fmt::format("{}-{:05}{}", stem.substr(0, stem.size() - length), number, end.substr(6));
  return path.parent_path() / (name + path.extension().string());
}

}  // namespace

bool is_gguf(const std::filesystem::path& path) {
  std::array<char, 4> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return std::string_view(begin.data(), begin.size()) == "GGUF";
}

GgufFile::GgufFile(const std::filesystem::path& path) : where_("[gguf] " + path.string()) {
  files_.emplace_back(path);
  contents_ = parse_gguf(files_[0].bytes(), where());
  if (integer("split.no").value_or(0) > 0) {  // the keys are in the first
    const std::filesystem::path first = numbered(path, 1);
    check(first != path, "{}: is one of several files, and its name does not say which: name the first one", where());
    files_[0] = MappedFile(first);
    where_ = "[gguf] " + first.string();
    contents_ = parse_gguf(files_[0].bytes(), where());
  }
  add_other_files();
  for (size_t i = 0; i < contents_.tensors.size(); ++i) {
    const bool fresh = index_.emplace(contents_.tensors[i].name, i).second;
    check(fresh, "{}: has the tensor {} twice: damaged?", where(), in_quotes(contents_.tensors[i].name));
  }
}

void GgufFile::add_other_files() {
  const int64_t count = integer("split.count").value_or(1);
  check(count >= 1 && count <= 10000, "{}: says it is one of {} files: damaged?", where(), count);
  for (int64_t number = 2; number <= count; ++number) {
    const std::filesystem::path other = numbered(path(), number);
    check(other != path(), "{}: is one of {} files, but its name does not end like -00001-of-{:05}.gguf: rename it",
          where(), count, count);
    check(path_exists(other), "{}: is one of {} files, and {} is not beside it: fetch it too", where(), count,
          [&] { return other.filename().string(); });
    files_.emplace_back(other);
    GgufContents more = parse_gguf(files_.back().bytes(), "[gguf] " + other.string());
    const auto no = more.values.find("split.no");
    const int64_t* said = no == more.values.end() ? nullptr : std::get_if<int64_t>(&no->second);
    check(
        said && *said == number - 1, "{}: {} does not say that it is number {} of {}: do they belong together?",
        where(), [&] { return other.filename().string(); }, number, count);
    for (GgufTensor& tensor : more.tensors) contents_.tensors.push_back(std::move(tensor));
  }
  const auto all = integer("split.tensors.count");
  check(!all || count == 1 || *all == std::ssize(contents_.tensors),
        "{}: its files have {} tensors instead of {}: damaged?", where(), contents_.tensors.size(), all.value_or(0));
}

const GgufTensor* GgufFile::tensor(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &contents_.tensors[found->second];
}

template <class T>
const T* GgufFile::value(std::string_view key, const char* wanted) const {
  const auto found = contents_.values.find(key);
  if (found == contents_.values.end()) return nullptr;
  const T* value = std::get_if<T>(&found->second);
  check(value != nullptr, "{}: key {} is not {}: damaged, or of another kind of model?", where(), in_quotes(key),
        wanted);
  return value;
}

std::optional<int64_t> GgufFile::integer(std::string_view key) const {
  const auto* found = value<int64_t>(key, "an integer");
  return found ? std::optional(*found) : std::nullopt;
}

std::optional<double> GgufFile::real(std::string_view key) const {
  const auto* found = value<double>(key, "a real number");
  return found ? std::optional(*found) : std::nullopt;
}

std::optional<bool> GgufFile::flag(std::string_view key) const {
  const auto* found = value<bool>(key, "true or false");
  return found ? std::optional(*found) : std::nullopt;
}

std::optional<std::string> GgufFile::text(std::string_view key) const {
  const auto* found = value<std::string_view>(key, "a text");
  return found ? std::optional(std::string(*found)) : std::nullopt;
}

const GgufArray* GgufFile::array(std::string_view key) const { return value<GgufArray>(key, "an array"); }

const std::vector<std::string_view>* GgufFile::texts(std::string_view key) const {
  const GgufArray* found = array(key);
  check(!found || found->of_texts, "{}: key {} is not an array of texts: damaged?", where(), in_quotes(key));
  return found ? &found->texts : nullptr;
}

const std::vector<double>* GgufFile::numbers(std::string_view key) const {
  const GgufArray* found = array(key);
  check(!found || !found->of_texts, "{}: key {} is not an array of numbers: damaged?", where(), in_quotes(key));
  return found ? &found->numbers : nullptr;
}

}  // namespace limpid
