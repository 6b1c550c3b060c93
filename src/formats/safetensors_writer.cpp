#include "formats/safetensors_writer.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

namespace limpid {
namespace {

using nlohmann::json;

// Quantised numbers are bytes to the format.
int64_t file_bytes(DType type, int64_t count = 1) { return is_quantized(type) ? count : bytes_of(type, count); }
std::string_view file_type(DType type) {
  if (type == DType::q8) return "I8";
  return is_quantized(type) ? "U8" : name_of(type);
}

// Numbers of a tensor, which must be one that a reader will accept.
int64_t checked_count(const TensorToWrite& tensor, std::string_view where) {
  int64_t bytes = file_bytes(tensor.type), count = 1;
  for (const int64_t n : tensor.shape) {
    const bool wrong = n < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(n, 1), &bytes);
    check(!wrong, "{}: tensor {} has a size of {}, negative or too large", where, in_quotes(tensor.name), n);
    count *= n;
  }
  const int sources = (tensor.bytes != nullptr) + (tensor.reals != nullptr) + static_cast<bool>(tensor.fetch);
  check(sources == 1 || (sources == 0 && count == 0), "{}: tensor {} needs either bytes, reals or fetch", where,
        in_quotes(tensor.name));
  return count;
}

// A text as JSON, in quotes; only UTF-8 can be one.
std::string json_text(const std::string& text, std::string_view where) {
  try {
    return json(text).dump();
  } catch (const json::exception&) {
    fail("{}: the name {} is not UTF-8", where, in_quotes(text));
  }
}

// The header, padded so that the data begin at a multiple of 8 bytes of the file.
std::string header_text(std::span<const TensorToWrite* const> tensors,
                        const std::map<std::string, std::string>& metadata, std::string_view where) {
  std::vector<std::string> items, pairs;
  pairs.reserve(metadata.size());
  for (const auto& [key, text] : metadata) pairs.push_back(json_text(key, where) + ":" + json_text(text, where));
  if (!metadata.empty()) items.push_back(fmt::format("\"__metadata__\":{{{}}}", fmt::join(pairs, ",")));
  std::unordered_set<std::string_view> names{"__metadata__"};
  int64_t begin = 0;
  for (const TensorToWrite* const tensor : tensors) {
    check(names.insert(tensor->name).second, "{}: the name {} is taken: give each tensor its own", where,
          in_quotes(tensor->name));
    const int64_t size = file_bytes(tensor->type, checked_count(*tensor, where));
    items.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                json_text(tensor->name, where), file_type(tensor->type), fmt::join(tensor->shape, ","),
                                begin, begin + size));
    begin += size;
  }
  std::string header = fmt::format("{{{}}}", fmt::join(items, ","));
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

void write_reals(AtomicFile& file, const real* reals, int64_t count, DType type) {
  constexpr int64_t kPiece = 1 << 18;  // numbers
  std::vector<std::byte> piece(bytes_of(type, std::min(count, kPiece)));
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const int64_t numbers = std::min(kPiece, count - begin);
    from_real(reals + begin, numbers, type, piece.data());
    file.write(std::span(piece).first(bytes_of(type, numbers)));
  }
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string where = "[safetensors] " + path.string();
  std::vector<const TensorToWrite*> order;
  for (const TensorToWrite& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(),
                   [](auto* a, auto* b) { return file_bytes(a->type) > file_bytes(b->type); });
  const std::string header = header_text(order, metadata, where);
  const uint64_t length = header.size();

  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const TensorToWrite* const tensor : order) {
    const int64_t count = checked_count(*tensor, where);
    if (tensor->reals != nullptr)
      write_reals(file, tensor->reals, count, tensor->type);
    else
      file.write({static_cast<const std::byte*>(tensor->fetch ? tensor->fetch() : tensor->bytes),
                  static_cast<size_t>(file_bytes(tensor->type, count))});
  }
  file.commit();
}

}  // namespace limpid
