#include "formats/safetensors_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "formats/safetensors_writer.h"

namespace limpid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kIndex = "model.safetensors.index.json";

// Writes a file with one number per name.
void write_shard(const std::filesystem::path& path, const std::vector<std::string>& names) {
  static constexpr float kNumber = 3;
  std::vector<TensorToWrite> tensors;
  for (const auto& name : names) tensors.push_back({.name = name, .shape = {1}, .bytes = &kNumber});
  write_safetensors(path, tensors);
}

std::string error_of(const std::filesystem::path& path) {
  try {
    const SafetensorsFolder folder(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SafetensorsFolder, OneFile) {
  const TemporaryFolder folder;
  write_shard(folder / "model.safetensors", {"a", "b"});
  write_text(folder / kIndex, "not even JSON");  // the single file comes first
  for (const auto& path : {folder.path(), folder / "model.safetensors"}) {
    const SafetensorsFolder weights(path);
    EXPECT_EQ(weights.entries().size(), 2u);
    EXPECT_EQ(weights.get("b").count(), 1);
    EXPECT_EQ(weights.find("c"), nullptr);
    EXPECT_THROW(weights.get("c"), Error);
  }
}

TEST(SafetensorsFolder, Shards) {
  const TemporaryFolder folder;
  write_shard(folder / "model-1.safetensors", {"a", "c"});
  write_shard(folder / "model-2.safetensors", {"b", "unlisted"});
  write_text(
      folder / kIndex,
      R"({"metadata": {}, "weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-1.safetensors"}})");
  const SafetensorsFolder weights(folder.path());
  EXPECT_EQ(weights.entries().size(), 3u);
  for (const char* const name : {"a", "b", "c"}) {
    real number = 0;
    read_reals(weights.get(name), &number);
    EXPECT_EQ(number, 3);
  }
  EXPECT_EQ(weights.find("unlisted"), nullptr);
}

TEST(SafetensorsFolder, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of(folder.path()), HasSubstr("has neither model.safetensors nor"));
  EXPECT_THAT(error_of(folder / "missing"), HasSubstr("no such file"));
  write_shard(folder / "model-1.safetensors", {"a"});
  const auto error_with = [&](const std::string& index) {
    write_text(folder / kIndex, index);
    return error_of(folder.path());
  };
  const std::string where = (folder / kIndex).string();
  EXPECT_EQ(error_with(R"({"weight_map": {"a": "model-1.safetensors"}})"), "");
  EXPECT_THAT(error_with(R"({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}})"),
              AllOf(StartsWith("[safetensors] " + where),
                    HasSubstr("names the shard \"model-2.safetensors\", which is not in")));
  EXPECT_THAT(error_with(R"({"weight_map": {"a": "model-1.safetensors", "b": "model-1.safetensors"}})"),
              HasSubstr("tensor \"b\" is not in its shard \"model-1.safetensors\""));
  EXPECT_THAT(error_with("{"), StartsWith("[json] " + where + ":1:2: "));
  EXPECT_THAT(error_with("[]"), HasSubstr("has no weight_map"));
  EXPECT_THAT(error_with("{}"), HasSubstr("has no weight_map"));
  EXPECT_THAT(error_with(R"({"weight_map": []})"), HasSubstr("names no tensors"));
  EXPECT_THAT(error_with(R"({"weight_map": {}})"), HasSubstr("names no tensors"));
  EXPECT_THAT(error_with(R"({"weight_map": {"a": 7}})"), HasSubstr("is not the name of a file"));
}

TEST(SafetensorsFolder, IndexCannotReachOutOfItsFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "model");
  write_shard(folder / "secret.safetensors", {"a"});
  const std::string absolute = (folder / "secret.safetensors").string();
  const std::string names[] = {
      "../secret.safetensors", absolute, "./x", "..", ".", "", "a\\\\b", "a\\u0000b"};  // in JSON
  for (const std::string& name : names) {
    write_text(folder / "model" / kIndex, R"({"weight_map": {"a": ")" + name + "\"}}");
    EXPECT_THAT(error_of(folder / "model"), HasSubstr("is not the name of a file in the same folder")) << name;
  }
}

}  // namespace
}  // namespace limpid
