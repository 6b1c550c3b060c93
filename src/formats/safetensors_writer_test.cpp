#include "formats/safetensors_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "base/temporary_folder.h"
#include "formats/safetensors.h"

namespace limpid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SafetensorsWriter, WritesTheDocumentedBytes) {
  const TemporaryFolder folder;
  const float numbers[] = {1, 2};
  const TensorToWrite tensors[] = {{.name = "a\"b", .type = DType::f32, .shape = {2, 1}, .bytes = numbers}};
  write_safetensors(folder / "x", tensors);
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"a\"b":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})";
  const uint64_t length = (header.size() + 7) / 8 * 8;
  std::string expected(reinterpret_cast<const char*>(&length), 8);
  expected += header + std::string(length - header.size(), ' ');
  expected.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  EXPECT_EQ(read_text(folder / "x"), expected);
}

TEST(SafetensorsWriter, RoundTrip) {
  const TemporaryFolder folder;
  Random random(1);
  std::vector<float> floats(1000);
  std::vector<double> doubles(7);
  std::vector<uint16_t> halves(33), brains(4);
  for (auto& x : floats) x = static_cast<float>(random.normal());
  for (auto& x : doubles) x = random.normal();
  for (auto& x : halves) x = to_f16(random.normal());
  for (auto& x : brains) x = to_bf16(random.normal());
  const TensorToWrite tensors[] = {
      {.name = "halves", .type = DType::f16, .shape = {3, 11}, .bytes = halves.data()},
      {.name = "none", .type = DType::f32, .shape = {5, 0}},
      {.name = "brains", .type = DType::bf16, .shape = {4}, .bytes = brains.data()},
      {.name = "größe", .type = DType::f64, .shape = {7, 1}, .bytes = doubles.data()},
      {.name = "floats", .type = DType::f32, .shape = {10, 10, 10}, .bytes = floats.data()},
      {.name = "one", .type = DType::f32, .shape = {}, .bytes = floats.data()},
  };
  write_safetensors(folder / "x", tensors, {{"format", "pt"}, {"step", "12\n\"7\""}});
  const SafetensorsFile file(folder / "x");
  EXPECT_EQ(file.metadata().at("step"), "12\n\"7\"");
  ASSERT_EQ(file.entries().size(), std::size(tensors));
  for (const TensorToWrite& tensor : tensors) {
    const SafetensorsEntry& entry = file.get(tensor.name);
    EXPECT_EQ(entry.type, tensor.type);
    EXPECT_EQ(entry.shape, tensor.shape);
    ASSERT_EQ(static_cast<int64_t>(entry.bytes.size()), bytes_of(tensor.type, entry.count()));
    const auto* const expected = static_cast<const std::byte*>(tensor.bytes);
    EXPECT_TRUE(std::equal(entry.bytes.begin(), entry.bytes.end(), expected)) << tensor.name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(entry.bytes.data()) % bytes_of(tensor.type), 0u) << tensor.name << " aligned";
  }
}

TEST(SafetensorsWriter, ConvertsOnTheWay) {
  const TemporaryFolder folder;
  Random random(2);
  std::vector<real> numbers((1 << 18) + 1234);  // more than a piece
  for (real& x : numbers) x = static_cast<real>(random.normal());
  const auto count = static_cast<int64_t>(numbers.size());
  std::vector<TensorToWrite> tensors;
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16})
    tensors.push_back({.name = std::string(name_of(type)), .type = type, .shape = {count}, .reals = numbers.data()});
  write_safetensors(folder / "x", tensors);
  const SafetensorsFile file(folder / "x");
  for (const SafetensorsEntry& entry : file.entries()) {
    std::vector<std::byte> expected(entry.bytes.size());
    from_real(numbers.data(), count, *entry.type, expected.data());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), entry.bytes.begin())) << entry.name;
  }
}

TEST(SafetensorsWriter, NoTensorsAndNoMetadata) {
  const TemporaryFolder folder;
  write_safetensors(folder / "x", {}, {});
  EXPECT_EQ(read_text(folder / "x"), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  EXPECT_TRUE(SafetensorsFile(folder / "x").entries().empty());
}

TEST(SafetensorsWriter, RefusesWhatNobodyCouldRead) {
  const TemporaryFolder folder;
  const float number = 1;
  const auto error_of = [&](std::vector<TensorToWrite> tensors) -> std::string {
    try {
      write_safetensors(folder / "x", tensors);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const TensorToWrite good{.name = "a", .shape = {1}, .bytes = &number};
  EXPECT_EQ(error_of({good}), "");
  EXPECT_THAT(error_of({good, good}), HasSubstr("the name \"a\" is taken"));
  EXPECT_THAT(error_of({{.name = "__metadata__", .shape = {1}, .bytes = &number}}), HasSubstr("is taken"));
  EXPECT_THAT(error_of({{.name = "\xff", .shape = {1}, .bytes = &number}}), HasSubstr("is not UTF-8"));
  EXPECT_THAT(error_of({{.name = "b", .shape = {-1}, .bytes = &number}}), HasSubstr("size of -1"));
  EXPECT_THAT(error_of({{.name = "b", .shape = {1ll << 62, 2}, .bytes = &number}}), HasSubstr("too large"));
  EXPECT_THAT(error_of({{.name = "b", .shape = {1}}}), HasSubstr("needs either bytes, reals or fetch"));
  EXPECT_EQ(SafetensorsFile(folder / "x").entries().size(), 1u) << "what was there before a failure stays";
}

}  // namespace
}  // namespace limpid
