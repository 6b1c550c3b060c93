#pragma once
// GGUF: a model in one file, weights, sizes and vocabulary; the format of llama.cpp. Versions 2 and 3, little-endian.
//
//   "GGUF", version (u32), number of tensors (u64), number of keys (u64)
//   keys            each a name, a type (u32) and a value; a text is its length (u64) and its bytes, an array its type
//                   (u32), its length (u64) and its values
//   tensors         each a name, its dimensions (u32, then u64 each, the innermost first), type (u32), offset (u64)
//   data            from the next multiple of general.alignment (32 unless said); offsets count from here
//
// Files come from anywhere, so nothing in one is believed before it is checked. An Error reads
// "[gguf] path: what is wrong: what to do".

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/file.h"

namespace limpid {

// The numbers of an array of whatever type, to be had as double, whole ones exactly up to 2⁵³; or its texts.
struct GgufArray {
  bool of_texts = false;
  std::vector<std::string_view> texts;
  std::vector<double> numbers;
};
using GgufValue = std::variant<int64_t, double, bool, std::string_view, GgufArray>;

// How the numbers of a tensor lie: in blocks of so many numbers in so many bytes.
struct GgufType {
  uint32_t id = 0;
  std::string_view name;
  int64_t numbers = 1, bytes = 0;
};
const GgufType* gguf_type(uint32_t id);            // nullptr: not known
const GgufType* gguf_type(std::string_view name);  // "F16", "Q8_0"

struct GgufTensor {
  std::string_view name;
  uint32_t type_id = 0;
  const GgufType* type = nullptr;         // nullptr: of a type that is not known
  std::vector<int64_t> shape = {};        // rows first, as everywhere here
  std::span<const std::byte> bytes = {};  // in the file

  int64_t count() const;  // numbers
};

struct GgufContents {
  std::map<std::string, GgufValue, std::less<>> values;
  std::vector<GgufTensor> tensors;  // in the order of the file
};

// The contents of a file's bytes, into which they point. `where` begins the messages.
GgufContents parse_gguf(std::span<const std::byte> file, const std::string& where);

// Whether a file is one, by its first bytes.
bool is_gguf(const std::filesystem::path& path);

// An open file, mapped into memory; of a model that is split into several (name-00001-of-00003.gguf) all of them,
// whichever is named.
class GgufFile {
 public:
  explicit GgufFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return files_.front().path(); }
  const std::string& where() const { return where_; }  // begins messages: "[gguf] model.gguf"
  const std::vector<GgufTensor>& tensors() const { return contents_.tensors; }
  const GgufTensor* tensor(std::string_view name) const;  // nullptr if there is none

  // The value of a key; none where the file lacks it, an Error where it is of another type.
  bool has(std::string_view key) const { return contents_.values.contains(key); }
  std::optional<int64_t> integer(std::string_view key) const;
  std::optional<double> real(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  const GgufArray* array(std::string_view key) const;
  const std::vector<std::string_view>* texts(std::string_view key) const;
  const std::vector<double>* numbers(std::string_view key) const;

 private:
  template <class T>
  const T* value(std::string_view key, const char* wanted) const;

  void add_other_files();

  std::vector<MappedFile> files_;  // the first has the keys
  std::string where_;
  GgufContents contents_;
  std::map<std::string_view, size_t> index_;
};

}  // namespace limpid
