#pragma once
// The weights of a model's folder: model.safetensors, or shards with an index that says which shard has which tensor.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/safetensors.h"

namespace limpid {

class SafetensorsFolder {
 public:
  // A folder with model.safetensors, else with model.safetensors.index.json; or one .safetensors file.
  explicit SafetensorsFolder(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  // Every tensor, in the order of their names.
  const std::map<std::string, const SafetensorsEntry*, std::less<>>& entries() const { return entries_; }
  // As of SafetensorsFile: nullptr if there is none; get() an Error if there is none or it cannot be read.
  const SafetensorsEntry* find(std::string_view name) const;
  const SafetensorsEntry& get(std::string_view name) const;

 private:
  void open_shards(const std::filesystem::path& index);

  std::filesystem::path path_;
  std::map<std::string, SafetensorsFile, std::less<>> files_;
  std::map<std::string, const SafetensorsEntry*, std::less<>> entries_;  // into files_
};

}  // namespace limpid
