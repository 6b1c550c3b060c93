#include "training/tensorboard.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

// Takes a little-endian number off the front of the bytes.
template <class Number>
Number take(std::string_view& bytes) {
  check(bytes.size() >= sizeof(Number), "bytes end too early");
  Number number;
  std::memcpy(&number, bytes.data(), sizeof(number));
  bytes.remove_prefix(sizeof(number));
  return number;
}

uint64_t take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = take<uint8_t>(bytes);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

// The reverse of TensorFlow's mask.
uint32_t unmasked(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return rotated >> 17 | rotated << 15;
}

std::vector<std::string> records_of(const fs::path& path) {
  const std::string text = read_text(path);
  std::vector<std::string> records;
  for (std::string_view bytes = text; !bytes.empty();) {
    const std::string_view head = bytes.substr(0, 8);
    const auto length = take<uint64_t>(bytes);
    EXPECT_EQ(unmasked(take<uint32_t>(bytes)), crc32c(head));
    records.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
    EXPECT_EQ(unmasked(take<uint32_t>(bytes)), crc32c(records.back()));
  }
  return records;
}

// A message's fields: the bytes of each, whole numbers as eight of them.
std::map<uint64_t, std::string> fields_of(std::string_view bytes) {
  std::map<uint64_t, std::string> fields;
  while (!bytes.empty()) {
    const uint64_t key = take_varint(bytes);
    std::string& field = fields[key >> 3];
    size_t size = 0;
    switch (key & 7) {
      case 0: {
        const uint64_t value = take_varint(bytes);
        field.assign(reinterpret_cast<const char*>(&value), sizeof(value));
        break;
      }
      case 1: size = 8; break;
      case 2: size = take_varint(bytes); break;
      case 5: size = 4; break;
      default: fail("unknown kind of field");
    }
    field += bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  return fields;
}

template <class Number>
Number number_in(std::string_view bytes) {
  return take<Number>(bytes);
}

TEST(TensorBoard, WritesPointsThatAReaderFinds) {
  const TemporaryFolder folder;
  TensorBoardWriter writer(folder / "tensorboard");
  writer.scalar("train/loss", 1, 2.5);
  writer.scalar("valid/bleu", 300, 27.25);
  writer.scalar("big", int64_t{1} << 40, -1e-3);
  EXPECT_TRUE(writer.path().filename().string().starts_with("events.out.tfevents."));

  const auto records = records_of(writer.path());
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(fields_of(records[0])[3], "brain.Event:2");
  const std::vector<std::tuple<std::string, int64_t, float>> expected = {
      {"train/loss", 1, 2.5f}, {"valid/bleu", 300, 27.25f}, {"big", int64_t{1} << 40, -1e-3f}};
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  for (size_t i = 0; i < expected.size(); ++i) {
    auto event = fields_of(records[i + 1]);
    EXPECT_NEAR(number_in<double>(event[1]), now, 60);
    EXPECT_EQ(number_in<int64_t>(event[2]), std::get<1>(expected[i]));
    auto value = fields_of(fields_of(event[5])[1]);
    EXPECT_EQ(value[1], std::get<0>(expected[i]));
    EXPECT_EQ(number_in<float>(value[2]), std::get<2>(expected[i]));
  }
}

// TensorFlow's own event files begin with these bytes: an event of 24 bytes (time and version), the masked sum of that
// length, and the time's field. It holds the mask to what others write, not only to its reverse in this test.
TEST(TensorBoard, BeginsAsTensorFlowsFilesDo) {
  const TemporaryFolder folder;
  const TensorBoardWriter writer(folder.path());
  const std::string text = read_text(writer.path());
  EXPECT_EQ(text.substr(0, 13), std::string("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09", 13));
  EXPECT_EQ(text.substr(21, 15),
            "\x1a\x0d"
            "brain.Event:2");
  EXPECT_EQ(text.size(), 8u + 4 + 24 + 4);
}

TEST(TensorBoard, AResumedRunBeginsALaterFileThatHidesWhatComesAgain) {
  const TemporaryFolder folder;
  const TensorBoardWriter first(folder.path());
  const TensorBoardWriter second(folder.path(), 100);
  const TensorBoardWriter third(folder.path(), 200);
  EXPECT_LT(first.path().string(), second.path().string());
  EXPECT_LT(second.path().string(), third.path().string());
  const auto records = records_of(second.path());
  ASSERT_EQ(records.size(), 2u);
  auto event = fields_of(records[1]);
  EXPECT_EQ(number_in<int64_t>(event[2]), 101);
  EXPECT_EQ(number_in<int64_t>(fields_of(event[7])[1]), 1);  // SessionLog.START
}

TEST(TensorBoard, AFolderThatCannotBeIsSaid) {
  const TemporaryFolder folder;
  write_text(folder / "file", "x");
  EXPECT_THROW(TensorBoardWriter(folder / "file"), Error);
}

}  // namespace
}  // namespace limpid
