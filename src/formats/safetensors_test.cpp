#include "formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/random.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A file with this header and `data_bytes` bytes 0, 1, 2, … of data.
std::string file_with(std::string_view header, size_t data_bytes) {
  const uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof(length));
  file += header;
  for (size_t i = 0; i < data_bytes; ++i) file += static_cast<char>(i);
  return file;
}

std::span<const std::byte> bytes_in(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string error_of_file(std::string_view file) {
  try {
    parse_safetensors(bytes_in(file), "[safetensors] x");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string error_of(std::string_view header, size_t data_bytes) {
  return error_of_file(file_with(header, data_bytes));
}

const std::string kValid =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F16","shape":[3],"data_offsets":[16,22]},)"
    R"("a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"ids":{"dtype":"I64","shape":[1,1],"data_offsets":[22,30]},)"
    R"("none":{"dtype":"BF16","shape":[0,4],"data_offsets":[16,16]},"one":{"dtype":"F64","shape":[],"data_offsets":[30,38]}})";

TEST(Safetensors, ReadsEntriesInTheOrderOfTheirData) {
  const std::string file = file_with(kValid + "  ", 38);
  const SafetensorsContents contents = parse_safetensors(bytes_in(file), "x");
  std::vector<std::string> names;
  for (const auto& entry : contents.entries) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("a", "none", "b", "ids", "one"));
  EXPECT_EQ(contents.metadata, (std::map<std::string, std::string>{{"format", "pt"}}));

  const SafetensorsEntry& a = contents.entries[0];
  EXPECT_EQ(a.type, DType::f32);
  EXPECT_THAT(a.shape, ElementsAre(2, 2));
  EXPECT_EQ(a.bytes.data(), bytes_in(file).data() + 8 + kValid.size() + 2);
  EXPECT_EQ(a.bytes.size(), 16u);
  EXPECT_EQ(contents.entries[1].count(), 0);
  EXPECT_EQ(contents.entries[4].count(), 1) << "a shape without sizes is one number";
}

TEST(Safetensors, ReadsUnalignedNumbers) {
  std::string header =
      R"({"x":{"dtype":"F32","shape":[3],"data_offsets":[1,13]},"y":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  std::string file = file_with(header, 1);
  const float numbers[] = {1.5f, -2.25f, 1e-3f};
  file.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  for (int shift = 0; shift < 8; ++shift) {
    const std::string shifted = std::string(shift, '#') + file;
    const auto contents = parse_safetensors(bytes_in(shifted).subspan(shift), "x");
    real got[3] = {};
    read_reals(contents.entries[1], got);
    EXPECT_THAT(got, ElementsAre(real(1.5), real(-2.25), real(1e-3f)));
  }
}

TEST(Safetensors, OtherTypesFailOnlyWhenAskedFor) {
  const TemporaryFolder folder;
  write_text(folder / "x", file_with(kValid, 38));
  const SafetensorsFile file(folder / "x");
  ASSERT_NE(file.find("ids"), nullptr);
  EXPECT_EQ(file.find("ids")->type_name, "I64");
  EXPECT_FALSE(file.find("ids")->type);
  EXPECT_EQ(file.find("nothing"), nullptr);
  EXPECT_EQ(file.get("b").type, DType::f16);
  const auto error_with = [&](const char* name) -> std::string {
    try {
      file.get(name);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_with("ids"), "[safetensors] " + (folder / "x").string() +
                                   ": tensor \"ids\" holds I64 numbers: Limpid reads F64, F32, F16 and BF16");
  EXPECT_THAT(error_with("nothing"), HasSubstr(": has no tensor \"nothing\""));
  real number = 0;
  EXPECT_THROW(read_reals(*file.find("ids"), &number), Error);
}

TEST(Safetensors, OpenFileCanBeMoved) {
  const TemporaryFolder folder;
  write_text(folder / "x", file_with(kValid, 38));
  std::vector<SafetensorsFile> files;
  for (int i = 0; i < 5; ++i) files.emplace_back(folder / "x");
  for (const auto& file : files) EXPECT_EQ(file.get("b").bytes.size(), 6u);
}

TEST(Safetensors, HeaderThatCannotBe) {
  EXPECT_THAT(error_of_file("12345"), HasSubstr("has 5 bytes, less than the length of a header: truncated download?"));
  std::string file = file_with(kValid, 38);
  const uint64_t lengths[] = {file.size() - 7, 9'000'000'000, UINT64_MAX, 1ull << 63};
  for (const uint64_t length : lengths) {
    std::memcpy(file.data(), &length, 8);
    EXPECT_THAT(error_of_file(file),
                AllOf(StartsWith("[safetensors] x: header says "), HasSubstr("truncated download?")));
  }
  EXPECT_THAT(error_of_file("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git lfs pull"));
  EXPECT_THAT(error_of_file("<!DOCTYPE html><html>"), HasSubstr("web page"));
  const uint64_t large = 100'000'001;
  std::string large_file(8 + large, ' ');
  std::memcpy(large_file.data(), &large, 8);
  EXPECT_THAT(error_of_file(large_file), HasSubstr("more than the 100.0 MB that are allowed"));
  for (const char* const header : {"", "[]", "7", "null", "\xef\xbb\xbf{}", " {}"})
    EXPECT_THAT(error_of(header, 0), HasSubstr("does not begin with {")) << header;
  EXPECT_THAT(error_of("{", 0), StartsWith("[safetensors] x: header:1:2: "));
  EXPECT_THAT(error_of("{} x", 0), StartsWith("[safetensors] x: header:1:4: "));
  EXPECT_THAT(error_of("{\"\xff\":1}", 0), HasSubstr("UTF-8"));
  EXPECT_THAT(error_of("{\"a\":" + std::string(1'000'000, '['), 0), HasSubstr("nested deeper"));
  EXPECT_EQ(error_of("{}", 0), "") << "no tensors is valid";
}

TEST(Safetensors, SameNameTwice) {
  EXPECT_THAT(
      error_of(
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          4),
      HasSubstr("the key \"a\" twice"));
  EXPECT_THAT(error_of(R"({"a":{"dtype":"F32","dtype":"F16","shape":[1],"data_offsets":[0,4]}})", 4),
              HasSubstr("the key \"dtype\" twice"));
}

// A tensor of these fields, alone in a file with 16 bytes of data.
std::string error_of_tensor(const std::string& fields) { return error_of("{\"a\":{" + fields + "}}", 16); }

TEST(Safetensors, TensorThatCannotBe) {
  EXPECT_EQ(error_of_tensor(R"("dtype":"F32","shape":[4],"data_offsets":[0,16])"), "");
  EXPECT_EQ(error_of_tensor(R"("dtype":"F4","shape":[32],"data_offsets":[0,16])"), "");
  const std::pair<const char*, const char*> wrong[] = {
      {R"("shape":[4],"data_offsets":[0,16])", "has no dtype"},
      {R"("dtype":"F32","data_offsets":[0,16])", "has no shape"},
      {R"("dtype":"F32","shape":[4])", "has no data_offsets"},
      {R"("dtype":7,"shape":[4],"data_offsets":[0,16])", "dtype is not a text"},
      {R"("dtype":"Q4_K","shape":[4],"data_offsets":[0,16])", "unknown type of number \"Q4_K\": Limpid reads F64, F32"},
      {R"("dtype":"F32","shape":4,"data_offsets":[0,16])", "shape is not a list"},
      {R"("dtype":"F32","shape":[-4],"data_offsets":[0,16])", "whole numbers"},
      {R"("dtype":"F32","shape":[4.0],"data_offsets":[0,16])", "whole numbers"},
      {R"("dtype":"F32","shape":["4"],"data_offsets":[0,16])", "whole numbers"},
      {R"("dtype":"F32","shape":[[4]],"data_offsets":[0,16])", "whole numbers"},
      {R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,16])", "whole numbers"},
      {R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,16])", "whole numbers"},
      {R"("dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,16])", "too large"},
      {R"("dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0])", "too large"},
      {R"("dtype":"F4","shape":[31],"data_offsets":[0,16])", "no whole number of bytes"},
      {R"("dtype":"F32","shape":[3],"data_offsets":[0,16])", "takes 16 bytes in the file, its shape takes 12"},
      {R"("dtype":"F16","shape":[4],"data_offsets":[0,16])", "takes 16 bytes in the file, its shape takes 8"},
      {R"("dtype":"F32","shape":[4],"data_offsets":[16,0])", "begins at 16 after its end at 0"},
      {R"("dtype":"F32","shape":[4],"data_offsets":[0,16,16])", "3 numbers instead of 2"},
      {R"("dtype":"F32","shape":[4],"data_offsets":[0,-1])", "whole numbers"},
      {R"("dtype":"F32","shape":[4],"data_offsets":[1,17])", "truncated download?"},
      {R"("dtype":"F32","shape":[4],"data_offsets":[9223372036854775791,9223372036854775807])", "truncated download?"},
      {R"("dtype":"F32","shape":[3],"data_offsets":[0,12])", "4 bytes follow the last tensor"},
      {R"("dtype":"F32","shape":[3],"data_offsets":[4,16])", "a hole of 4 bytes lies before tensor \"a\""},
  };
  for (const auto& [fields, message] : wrong) EXPECT_THAT(error_of_tensor(fields), HasSubstr(message)) << fields;
  EXPECT_THAT(error_of(R"({"a":7})", 0), HasSubstr("tensor \"a\" is not an object"));
  EXPECT_THAT(error_of("{}", 3), HasSubstr("3 bytes follow the last tensor"));
  EXPECT_THAT(error_of(R"({"__metadata__":7})", 0), HasSubstr("__metadata__ is not an object"));
  EXPECT_THAT(error_of(R"({"__metadata__":{"a":7}})", 0), HasSubstr("__metadata__ \"a\" is not a text"));
}

TEST(Safetensors, TensorsThatShareBytes) {
  const auto two = [](int a, int b, int c, int d) {
    return error_of(fmt::format(R"({{"a":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}},)"
                                R"("b":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}}}})",
                                b - a, a, b, d - c, c, d),
                    8);
  };
  EXPECT_EQ(two(0, 5, 5, 8), "");
  EXPECT_EQ(two(3, 8, 0, 3), "");
  EXPECT_EQ(two(8, 8, 0, 8), "") << "an empty tensor at the end";
  EXPECT_THAT(two(0, 5, 4, 8), HasSubstr("\"b\" overlaps"));
  EXPECT_THAT(two(0, 8, 0, 8), HasSubstr("\"b\" overlaps"));
  EXPECT_THAT(two(0, 8, 2, 4), HasSubstr("\"b\" overlaps"));
  EXPECT_THAT(two(0, 8, 3, 3), HasSubstr("\"b\" overlaps")) << "an empty tensor inside another";
  EXPECT_THAT(two(0, 3, 4, 8), HasSubstr("a hole of 1 bytes"));
  EXPECT_THAT(two(0, 3, 3, 7), HasSubstr("1 bytes follow"));
}

TEST(Safetensors, EveryTruncationIsNoticed) {
  const std::string file = file_with(kValid, 38);
  ASSERT_EQ(error_of_file(file), "");
  for (size_t size = 0; size < file.size(); ++size)
    ASSERT_THAT(error_of_file(std::string_view(file).substr(0, size)), StartsWith("[safetensors] x: ")) << size;
}

// What was accepted must be true: entries inside the file, sizes that fit, readable to the last byte.
void expect_consistent(const SafetensorsContents& contents, std::string_view file) {
  const std::byte* const begin = bytes_in(file).data();
  const std::byte* end = contents.entries.empty() ? begin + file.size() : contents.entries[0].bytes.data();
  for (const SafetensorsEntry& entry : contents.entries) {
    ASSERT_EQ(entry.bytes.data(), end);
    end += entry.bytes.size();
    ASSERT_LE(end, begin + file.size());
    if (!entry.type) continue;
    ASSERT_EQ(bytes_of(*entry.type, entry.count()), static_cast<int64_t>(entry.bytes.size()));
    std::vector<real> numbers(entry.count());
    read_reals(entry, numbers.data());
  }
  ASSERT_EQ(end, begin + file.size());
}

// One random change: a bit, a byte, a piece removed, doubled or overwritten by another; often in the header's
// punctuation.
void mutate(std::string& file, Random& random) {
  static constexpr std::string_view kPieces[] = {"-", "0", "9",  "\"", "{",    "}",   "[",    "]",
                                                 ",", ":", "e9", ".5", "null", "F64", "[0,0]"};
  if (file.empty()) return;
  const auto at = static_cast<size_t>(random.below(static_cast<int64_t>(file.size())));
  const auto from = static_cast<size_t>(random.below(static_cast<int64_t>(file.size())));
  const auto length = static_cast<size_t>(random.below(12));
  switch (random.below(7)) {
    case 0: file[at] = static_cast<char>(file[at] ^ (1 << random.below(8))); break;
    case 1: file[at] = static_cast<char>(random.bits()); break;
    case 2: file.erase(at, length); break;
    case 3: file.insert(at, file.substr(from, length)); break;
    case 4: file.replace(at, length, file.substr(from, length)); break;
    case 5: file.insert(at, kPieces[random.below(std::size(kPieces))]); break;
    default: file[at] = static_cast<char>('0' + random.below(10)); break;
  }
}

TEST(Safetensors, MutatedFilesAreRefusedOrConsistent) {
  const std::string valid = file_with(kValid, 38);
  int refused = 0, accepted = 0;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    Random random(random_key(seed, 0, 0));
    std::string file = valid;
    for (int64_t changes = 1 + random.below(3); changes > 0; --changes) mutate(file, random);
    if (random.below(4) != 0 && file.size() > 46) {  // mend the length, to get past the first check
      const uint64_t length = file.size() - 46;
      std::memcpy(file.data(), &length, 8);
    }
    const std::vector<char> exact(file.begin(), file.end());  // so that a sanitizer sees a byte too far
    const std::string_view view(exact.data(), exact.size());
    try {
      const auto contents = parse_safetensors(bytes_in(view), "[safetensors] x");
      expect_consistent(contents, view);
      ++accepted;
    } catch (const Error& error) {
      ASSERT_THAT(error.what(), StartsWith("[safetensors] x")) << "seed " << seed;
      ASSERT_LT(std::strlen(error.what()), 500u);
      ++refused;
    }
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(refused, 3000);
  EXPECT_GT(accepted, 300) << "changes of data or names only must pass";
}

// Every file of the reference cases, which PyTorch wrote.
TEST(Safetensors, ReferenceFiles) {
  const char* const set = std::getenv("LIMPID_REFERENCE");
  const fs::path folder = set ? fs::path(set) : fs::path(LIMPID_SOURCE_DIR) / "../shared/reference";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no reference cases in " << folder << ": set LIMPID_REFERENCE";
  int files = 0;
  for (const auto& item : fs::recursive_directory_iterator(folder)) {
    if (item.path().extension() != ".safetensors") continue;
    const SafetensorsFile file(item.path());
    ASSERT_FALSE(file.entries().empty()) << item.path();
    for (const SafetensorsEntry& entry : file.entries()) {
      ASSERT_EQ(&file.get(entry.name), &entry);
      std::vector<real> numbers(entry.count());
      read_reals(entry, numbers.data());
      for (const real number : numbers) ASSERT_FALSE(std::isnan(number)) << item.path() << ": " << entry.name;
    }
    ++files;
  }
  EXPECT_GT(files, 0) << folder;
}

}  // namespace
}  // namespace limpid
