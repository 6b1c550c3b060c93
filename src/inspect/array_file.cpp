#include "inspect/array_file.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"
#include "formats/model_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNumber = 4;  // bytes of both types

[[noreturn]] void fail_writing(const fs::path& path, const std::string& why) {
  fail(ErrorKind::io, "[file] {}: cannot be written: {}: is there room, and may you write there?", path.string(), why);
}

int create(const fs::path& path) {
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) fail_writing(path, std::strerror(errno));
  return file;
}

void write_at(int file, const void* bytes, int64_t count, int64_t offset, const fs::path& path) {
  for (const char* from = static_cast<const char*>(bytes); count > 0;) {
    const ssize_t done = ::pwrite(file, from, static_cast<size_t>(count), offset);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail_writing(path, std::strerror(errno));
    from += done;
    offset += done;
    count -= done;
  }
}

// NumPy's format 1.0: magic, version, length of the header, a Python dictionary, padded to a multiple of 64.
std::string npy_header(const ArrayShape& array) {
  std::string shape;
  for (int64_t n : array.shape) shape += std::to_string(n) + ",";
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 array.type == ArrayType::f32 ? "<f4" : "<i4", shape);
  constexpr size_t kBefore = 10;
  text.append(63 - (kBefore + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

fs::path beside(const fs::path& path) {
  fs::path name = path;
  if (!name.has_filename()) name = name.parent_path();
  return name.parent_path() / fmt::format(".{}.{}", name.filename().string(), ::getpid());
}

// Closes the files, several arrays of which may be one, and removes what has not got its final name.
void drop(const std::vector<int>& files, const fs::path& temporary) {
  for (size_t i = 0; i < files.size(); ++i)
    if (i == 0 || files[i] != files[i - 1]) ::close(files[i]);
  std::error_code ignored;
  if (!temporary.empty()) fs::remove_all(temporary, ignored);
}

}  // namespace

int64_t ArrayShape::numbers() const {
  int64_t product = 1;
  for (int64_t n : shape) product *= n;
  return product;
}

ArrayFormat format_of(const fs::path& path) {
  return path.extension() == ".safetensors" ? ArrayFormat::safetensors : ArrayFormat::npy;
}

std::string safetensors_head(const std::vector<ArrayShape>& arrays,
                             const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header;
  if (!metadata.empty()) header["__metadata__"] = metadata;
  int64_t at = 0;
  for (const ArrayShape& array : arrays) {
    const int64_t end = at + kNumber * array.numbers();
    header[array.name] = {
        {"dtype", array.type == ArrayType::f32 ? "F32" : "I32"}, {"shape", array.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

void ArrayBytes::add(std::string name, std::vector<int64_t> shape, std::span<const real> numbers) {
  add(std::move(name), std::move(shape), std::vector<real>(numbers.begin(), numbers.end()));
}

void ArrayBytes::add(std::string name, std::vector<int64_t> shape, std::vector<real>&& numbers) {
  arrays_.push_back({std::move(name), std::move(shape), ArrayType::f32});
  check(arrays_.back().numbers() == std::ssize(numbers), "[array] {} has {} numbers, its shape {}", arrays_.back().name,
        numbers.size(), arrays_.back().numbers());
  numbers_.push_back({.of_reals = std::move(numbers)});
}

void ArrayBytes::add(std::string name, std::vector<int64_t> shape, std::span<const int32_t> numbers) {
  arrays_.push_back({std::move(name), std::move(shape), ArrayType::i32});
  numbers_.push_back({.of_integers = {numbers.begin(), numbers.end()}});
}

std::string ArrayBytes::finish(const std::map<std::string, std::string>& metadata) const {
  std::string bytes = safetensors_head(arrays_, metadata);
  size_t whole = bytes.size();
  for (const ArrayShape& array : arrays_) whole += static_cast<size_t>(kNumber * array.numbers());
  bytes.reserve(whole);
  const auto append = [&](const auto& numbers) {
    bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(numbers[0]));
  };
  for (const Numbers& numbers : numbers_) {
    append(numbers.of_integers);
    if constexpr (std::is_same_v<real, float>)
      append(numbers.of_reals);
    else
      append(std::vector<float>(numbers.of_reals.begin(), numbers.of_reals.end()));
  }
  return bytes;
}

ArrayFile::ArrayFile(fs::path path, std::vector<ArrayShape> arrays, const std::map<std::string, std::string>& metadata)
    : path_(std::move(path)), temporary_(beside(path_)), arrays_(std::move(arrays)) {
  std::error_code error;
  check(format_of(path_) == ArrayFormat::safetensors || !fs::exists(path_, error),
        "[file] {}: exists already: name a new folder", path_);
  try {
    if (format_of(path_) == ArrayFormat::safetensors)
      open_safetensors(metadata);
    else
      open_npy();
  } catch (...) {
    drop(files_, temporary_);
    throw;
  }
  for (const ArrayShape& array : arrays_) left_.push_back(array.numbers());
}

void ArrayFile::open_safetensors(const std::map<std::string, std::string>& metadata) {
  const std::string head = safetensors_head(arrays_, metadata);
  const int file = create(temporary_);
  files_.assign(std::max<size_t>(arrays_.size(), 1), file);
  write_at(file, head.data(), static_cast<int64_t>(head.size()), 0, path_);
  bytes_ = static_cast<int64_t>(head.size());
  for (const ArrayShape& array : arrays_) {
    offsets_.push_back(bytes_);
    bytes_ += kNumber * array.numbers();
  }
  if (::ftruncate(file, bytes_) != 0)
    fail(ErrorKind::io, "[file] {}: cannot be made {} long: is the disk full?", path_.string(),
         bytes_text(static_cast<uint64_t>(bytes_)));
}

void ArrayFile::open_npy() {
  make_folder(temporary_);
  for (const ArrayShape& array : arrays_) {
    const std::string header = npy_header(array);
    files_.push_back(create(temporary_ / (array.name + ".npy")));
    write_at(files_.back(), header.data(), static_cast<int64_t>(header.size()), 0, path_);
    offsets_.push_back(static_cast<int64_t>(header.size()));
    bytes_ += static_cast<int64_t>(header.size()) + kNumber * array.numbers();
  }
}

ArrayFile::~ArrayFile() { drop(files_, temporary_); }

void ArrayFile::write(size_t array, const void* bytes, int64_t count) {
  check(count <= left_[array], "[capture] {} got more numbers than it has room for", arrays_[array].name);
  write_at(files_[array], bytes, kNumber * count, offsets_[array], path_);
  offsets_[array] += kNumber * count;
  left_[array] -= count;
}

void ArrayFile::append(size_t array, std::span<const real> numbers) {
  if constexpr (std::is_same_v<real, float>) {
    write(array, numbers.data(), static_cast<int64_t>(numbers.size()));
  } else {
    const std::vector<float> converted(numbers.begin(), numbers.end());
    write(array, converted.data(), static_cast<int64_t>(converted.size()));
  }
}

void ArrayFile::append(size_t array, std::span<const int32_t> numbers) {
  write(array, numbers.data(), static_cast<int64_t>(numbers.size()));
}

void ArrayFile::finish() {
  for (size_t i = 0; i < arrays_.size(); ++i)
    check(left_[i] == 0, "[capture] {} lacks {} numbers", arrays_[i].name, left_[i]);
  for (size_t i = 0; i < files_.size(); ++i) {
    const bool again = i > 0 && files_[i] == files_[i - 1];  // arrays of one file
    if (!again && ::fsync(files_[i]) != 0) fail_writing(path_, std::strerror(errno));
  }
  move_path(temporary_, path_);
  temporary_.clear();
}

}  // namespace limpid
