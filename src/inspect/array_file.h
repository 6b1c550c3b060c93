#pragma once
// Arrays written piece by piece as their numbers come, several side by side, with sizes known beforehand: one
// safetensors file, or a folder of .npy files (NumPy's format). Memory does not grow with the arrays. What exists at
// the end is whole: the file or folder gets its name in finish(), and without it nothing remains.

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tensor/matrix.h"

namespace limpid {

enum class ArrayType { f32, i32 };

struct ArrayShape {
  std::string name;
  std::vector<int64_t> shape;
  ArrayType type = ArrayType::f32;

  int64_t numbers() const;
};

enum class ArrayFormat { safetensors, npy };
ArrayFormat format_of(const std::filesystem::path& path);  // *.safetensors is a file of that kind, all else a folder

// What a safetensors file begins with: the length of its header and the header. The arrays' numbers follow in their
// order.
std::string safetensors_head(const std::vector<ArrayShape>& arrays, const std::map<std::string, std::string>& metadata);

// The same in memory, for arrays that are there: the bytes of a safetensors file.
class ArrayBytes {
 public:
  void add(std::string name, std::vector<int64_t> shape, std::span<const real> numbers);
  void add(std::string name, std::vector<int64_t> shape, std::vector<real>&& numbers);  // not copied
  void add(std::string name, std::vector<int64_t> shape, std::span<const int32_t> numbers);
  std::string finish(const std::map<std::string, std::string>& metadata) const;

 private:
  struct Numbers {
    std::vector<real> of_reals = {};
    std::vector<int32_t> of_integers = {};
  };
  std::vector<ArrayShape> arrays_;
  std::vector<Numbers> numbers_;  // of each
};

class ArrayFile {
 public:
  ArrayFile(std::filesystem::path path, std::vector<ArrayShape> arrays,
            const std::map<std::string, std::string>& metadata = {});
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;
  ~ArrayFile();

  void append(size_t array, std::span<const real> numbers);  // of an f32 array; converted
  void append(size_t array, std::span<const int32_t> numbers);
  void finish();  // throws unless every array has all its numbers

  int64_t bytes() const { return bytes_; }  // of all files, headers included

 private:
  void write(size_t array, const void* bytes, int64_t count);
  void open_safetensors(const std::map<std::string, std::string>& metadata);
  void open_npy();

  std::filesystem::path path_, temporary_;
  std::vector<ArrayShape> arrays_;
  std::vector<int> files_;        // descriptor of each array's file
  std::vector<int64_t> offsets_;  // where its next number goes
  std::vector<int64_t> left_;     // numbers still to come
  int64_t bytes_ = 0;
};

}  // namespace limpid
