#include "inspect/direction.h"

#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "inspect/tap_rows.h"
#include "inspect/weights.h"

namespace limpid {
namespace {

std::vector<double> mean_of_text(const Session& session, const std::string& text, const std::string& tap) {
  const auto values = tap_values(session.model(), session.example({text, ""}), {tap});
  check(values.contains(tap), "[look] the tap {} did not fire: does this model have it?", tap);
  return values.at(tap).mean();
}

std::vector<double> from_texts(const Session& session, const std::string& given, const std::string& tap) {
  check(!tap.empty(),
        "[look] texts:{} is captured at a tap, and there is none here: use token:, embed: or npy:", given);
  const size_t bar = given.find('|');
  std::vector<double> direction = mean_of_text(session, given.substr(0, bar), tap);
  if (bar == std::string::npos) return direction;
  const std::vector<double> other = mean_of_text(session, given.substr(bar + 1), tap);
  for (size_t i = 0; i < direction.size(); ++i) direction[i] -= other[i];
  return direction;
}

// The value of a key in NumPy's header, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }".
std::string_view after_key(std::string_view header, std::string_view key, const std::filesystem::path& path) {
  const size_t at = header.find(key);
  check(at != std::string_view::npos, "[npy] {}: its header has no {}: is it a .npy file?", path, key);
  return header.substr(at + key.size());
}

// How many numbers a header promises, which have to be a vector: of a table nobody could say which row is meant.
int64_t vector_length(std::string_view header, const std::filesystem::path& path) {
  const std::string_view given = after_key(header, "'shape': (", path);
  const std::string_view shape = given.substr(0, given.find(')'));
  int64_t count = 1, long_sides = 0;
  for (const char *at = shape.data(), *end = at + shape.size(); at != end;) {
    int64_t side = 0;
    const auto [next, error] = std::from_chars(at, end, side);
    if (error == std::errc()) {
      if (side != 1) count = side, ++long_sides;
      at = next;
    } else {
      check(error == std::errc::invalid_argument && (*at == ',' || *at == ' '), "[npy] {}: {} is no shape", path,
            in_quotes(shape));
      ++at;
    }
  }
  check(long_sides <= 1, "[npy] {}: has the shape {}: a direction is one vector", path, in_quotes(shape));
  return count;
}

template <class Number>
std::vector<double> converted(std::span<const std::byte> bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(Number));
  for (size_t i = 0; i < numbers.size(); ++i) {
    Number number;
    std::memcpy(&number, bytes.data() + i * sizeof(Number), sizeof(Number));
    numbers[i] = static_cast<double>(number);
  }
  return numbers;
}

}  // namespace

std::vector<double> read_npy_vector(const std::filesystem::path& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  check(bytes.size() >= 12 && std::memcmp(text, "\x93NUMPY", 6) == 0, "[npy] {}: not a .npy file", path);
  const auto byte = [&](size_t i) { return static_cast<size_t>(bytes[i]); };
  const bool first_version = byte(6) == 1;
  const size_t begin = first_version ? 10 : 12;
  const size_t length = byte(8) | byte(9) << 8 | (first_version ? 0 : byte(10) << 16 | byte(11) << 24);
  check(begin + length <= bytes.size(), "[npy] {}: its header goes beyond its end: truncated?", path);
  const std::string_view header(text + begin, length);
  const std::string_view type = after_key(header, "'descr': '", path).substr(0, 3);
  const auto numbers = bytes.subspan(begin + length);
  check(type == "<f4" || type == "<f8", "[npy] {}: holds {}: save it as float32 or float64", path, type);
  const int64_t size = type == "<f4" ? 4 : 8, count = vector_length(header, path);
  check(count > 0 && count <= INT64_MAX / size && std::ssize(numbers) == count * size,
        "[npy] {}: has {} bytes of numbers, where its shape says {} numbers: truncated?", path, numbers.size(), count);
  return type == "<f4" ? converted<float>(numbers) : converted<double>(numbers);
}

std::vector<double> read_direction(const Session& session, std::string_view text, const std::string& tap) {
  const size_t colon = text.find(':');
  const std::string kind(text.substr(0, colon));
  const std::string given(colon == std::string_view::npos ? "" : text.substr(colon + 1));
  if (kind == "npy") return read_npy_vector(given);
  if (kind == "texts") return from_texts(session, given, tap);
  if (kind == "token") return row_of(session.model().output().weight(), session.token(session.writer(), given));
  if (kind == "embed") {
    const WeightTable weights(session.model());
    return row_of(embedding_table(weights, session.config(), ""), session.token(session.writer(), given));
  }
  constexpr std::string_view kKinds[] = {"token", "embed", "npy", "texts"};
  fail("[look] \"{}\" is no direction: write token:WORD, embed:WORD, npy:FILE or texts:A|B{}", text,
       did_you_mean(kind, kKinds));
}

}  // namespace limpid
