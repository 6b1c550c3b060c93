#include "formats/safetensors_folder.h"

#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/json.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// False only if there is surely nothing: whatever else is wrong, opening it will tell.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::status(path, ignored).type() != fs::file_type::not_found;
}

// An index may name files beside it and nothing else on the disk.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

// {"weight_map": {tensor: file}} of an index.
json weight_map_of(const fs::path& index, std::string_view where) {
  json object = read_json(index);
  check(object.is_object() && object.contains("weight_map"), "{}: has no weight_map: is it a safetensors index?",
        where);
  json map = std::move(object["weight_map"]);
  check(map.is_object() && !map.empty(), "{}: weight_map names no tensors: is it a safetensors index?", where);
  for (const auto& [name, file] : map.items())
    check(file.is_string() && is_plain_name(file.get<std::string>()),
          "{}: weight_map puts tensor {} in {}, which is not the name of a file in the same folder", where,
          in_quotes(name), in_quotes(file.is_string() ? file.get<std::string>() : file.type_name()));
  return map;
}

}  // namespace

SafetensorsFolder::SafetensorsFolder(const fs::path& path) : path_(path) {
  std::error_code ignored;
  const bool folder = fs::is_directory(path_, ignored);
  const fs::path single = folder ? path_ / "model.safetensors" : path_;
  const fs::path index = path_ / "model.safetensors.index.json";
  if (folder && !is_there(single)) {
    check(is_there(index),
          "[safetensors] {}: has neither model.safetensors nor model.safetensors.index.json: is it a model?", path_);
    open_shards(index);
    return;
  }
  const SafetensorsFile& file = files_.emplace(single.filename().string(), SafetensorsFile(single)).first->second;
  for (const SafetensorsEntry& entry : file.entries()) entries_.emplace(entry.name, &entry);
}

void SafetensorsFolder::open_shards(const fs::path& index) {
  const std::string where = "[safetensors] " + index.string();
  const json weight_map = weight_map_of(index, where);
  for (const auto& [name, value] : weight_map.items()) {
    const auto& shard = value.get_ref<const std::string&>();
    auto file = files_.find(shard);
    if (file == files_.end()) {
      check(is_there(path_ / shard), "{}: names the shard {}, which is not in the folder: download it too", where,
            in_quotes(shard));
      file = files_.emplace(shard, SafetensorsFile(path_ / shard)).first;
    }
    const SafetensorsEntry* const entry = file->second.find(name);
    check(entry != nullptr, "{}: tensor {} is not in its shard {}: are index and shards of one model?", where,
          in_quotes(name), in_quotes(shard));
    entries_.emplace(name, entry);
  }
}

const SafetensorsEntry* SafetensorsFolder::find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : found->second;
}

const SafetensorsEntry& SafetensorsFolder::get(std::string_view name) const {
  return require_readable(find(name), name, "[safetensors] " + path_.string());
}

}  // namespace limpid
