#pragma once
// Every reader of bytes that come from outside, behind one face: bytes in; they are read, or refused by an Error.
// Anything else (a crash, another exception, memory or time without bound) is a finding.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace limpid::fuzz {

// What a mutation should keep whole. folder: a config, a zero byte, a safetensors file.
enum class Shape { bytes, json, safetensors, protobuf, gguf, folder };

struct Reader {
  const char* name;
  Shape shape;
  void (*read)(std::string_view bytes);  // throws nothing but Error
  std::vector<std::string> (*seeds)();   // small valid inputs, made by the project itself
};

std::span<const Reader> readers();
const Reader* find_reader(std::string_view name);

// Reads and swallows the Error; true if the bytes were accepted.
bool try_reader(const Reader& reader, std::string_view bytes);

}  // namespace limpid::fuzz
