#include "training/tensorboard.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>

#include "base/checksum.h"
#include "base/error.h"
#include "base/paths.h"
#include "base/protobuf.h"
#include "formats/model_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "events.out.tfevents.";

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

template <class Number>
std::string bytes_of_number(Number number) {  // little-endian
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

// Event { double wall_time = 1; int64 step = 2; oneof { string file_version = 3; Summary summary = 5;
//         SessionLog session_log = 7; } }
std::string event(int64_t step, uint64_t field, std::string_view content) {
  ProtobufMessage message;
  message.decimal(1, seconds_now());
  if (step != 0) message.number(2, static_cast<uint64_t>(step));  // 0 is what a missing field means
  return message.text(field, content).take();
}

// A CRC of data that itself contains a CRC is weak; TensorFlow therefore stores it rotated and shifted.
uint32_t masked_crc(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

std::string record(std::string_view data) {
  const std::string length = bytes_of_number(uint64_t{data.size()});
  std::string bytes = length + bytes_of_number(masked_crc(length));
  return bytes.append(data) + bytes_of_number(masked_crc(data));
}

// TensorBoard reads the files of a folder in the order of their names, which begin with the second they were made in.
// A file made now must therefore count as later than all others, even in the same second or after the clock was set.
int64_t next_second(const fs::path& folder) {
  auto second = static_cast<int64_t>(seconds_now());
  for (const fs::path& path : paths_in(folder)) {
    const std::string name = path.filename().string();
    if (name.starts_with(kPrefix))
      second = std::max<int64_t>(second, std::strtoll(name.c_str() + kPrefix.size(), nullptr, 10) + 1);
  }
  return second;
}

fs::path new_file(const fs::path& folder) {
  make_folder(folder);
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"localhost"};
  return folder / fmt::format("{}{:010}.{}.{}.0", kPrefix, next_second(folder), host.data(), ::getpid());
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const fs::path& folder, std::optional<int64_t> resumed_step)
    : file_(new_file(folder)) {
  const int64_t first = resumed_step ? *resumed_step + 1 : 0;
  file_.append(record(event(first, 3, "brain.Event:2")));
  // SessionLog { status = 1: START = 1 }: makes TensorBoard forget points of this step and later ones.
  if (resumed_step) file_.append(record(event(first, 7, ProtobufMessage().number(1, 1).take())));
}

void TensorBoardWriter::scalar(std::string_view tag, int64_t step, double value) {
  // Summary { repeated Value { string tag = 1; float simple_value = 2; } value = 1; }
  const std::string point = ProtobufMessage().text(1, tag).decimal(2, static_cast<float>(value)).take();
  file_.append(record(event(step, 5, ProtobufMessage().text(1, point).take())));
}

}  // namespace limpid
