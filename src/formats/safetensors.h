#pragma once
// safetensors: named tensors in one file, the format of Hugging Face weights.
//
//   8 bytes         length of the header, little-endian
//   header          JSON, padded with spaces: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]},
//   …,
//                   "__metadata__": {"key": "text", …}}
//   data            the tensors, row-major, little-endian, without holes; offsets count from here
//
// Files come from anywhere, so nothing in one is believed before it is checked. An Error reads
// "[safetensors] path: what is wrong: what to do".

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "base/real.h"
#include "tensor/dtype.h"

namespace limpid {

struct SafetensorsEntry {
  std::string name;
  std::string type_name;                  // as the file has it: "F32", "I64"
  std::optional<DType> type = {};         // none: a type that is listed but cannot be read, such as integers
  std::vector<int64_t> shape = {};        // empty: one number
  std::span<const std::byte> bytes = {};  // in the file; at any alignment

  int64_t count() const;  // numbers
};

struct SafetensorsContents {
  std::vector<SafetensorsEntry> entries;  // in the order of their data
  std::map<std::string, std::string> metadata;
};

// The contents of a file's bytes, into which the entries point. `where` begins the messages.
SafetensorsContents parse_safetensors(std::span<const std::byte> file, std::string_view where);

// An open file, mapped into memory.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  const std::vector<SafetensorsEntry>& entries() const { return contents_.entries; }
  const std::map<std::string, std::string>& metadata() const { return contents_.metadata; }

  // The tensor of that name, whether it can be read or not; nullptr if there is none.
  const SafetensorsEntry* find(std::string_view name) const;
  // The tensor of that name; an Error if there is none or its type of number cannot be read.
  const SafetensorsEntry& get(std::string_view name) const;

 private:
  MappedFile file_;
  SafetensorsContents contents_;
  std::unordered_map<std::string_view, size_t> index_;  // name: place in entries
};

// Copies a tensor's count() numbers to `out`, converted.
void read_reals(const SafetensorsEntry& entry, real* out);

// `entry`, which a search for `name` in `where` has found or not (nullptr), checked as get() does.
const SafetensorsEntry& require_readable(const SafetensorsEntry* entry, std::string_view name, std::string_view where);

}  // namespace limpid
