#include "training/dataset_record.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/checksum.h"
#include "base/error.h"
#include "base/json.h"
#include "training/dataset.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

bool changes_data(std::string_view key, const Recipe& recipe) {
  if (key == "data.valid_share" || key == "data.valid_most") return recipe.data.valid.empty();
  if (key == "tokenizer.sampling") return false;  // the ids on disk are the likeliest segmentation
  if (key.starts_with("tokenizer.")) return recipe.start_from.empty();
  static const std::set<std::string_view> keys = {"model.model_type",    "data.columns",   "data.unit", "data.labels",
                                                  "data.max_length",     "data.max_ratio", "seed",      "start_from",
                                                  "validation.translate"};
  return keys.contains(key);
}

const std::map<std::string, Json>& default_values() {
  static const std::map<std::string, Json> values = [] {
    const auto list = recipe_values(Recipe{});
    return std::map<std::string, Json>(list.begin(), list.end());
  }();
  return values;
}

std::vector<FileHash> hash_texts(const Recipe& recipe, const std::vector<std::string>& names) {
  std::vector<FileHash> hashes;
  for (const std::string& name : names) hashes.push_back({name, hash_text(hash_file(data_path(recipe, name)))});
  return hashes;
}

Json json_of(const std::vector<FileHash>& files) {
  Json list = Json::array();
  for (const FileHash& file : files) list.push_back({{"file", file.name}, {"xxh64", file.hash}});
  return list;
}

std::vector<FileHash> files_from(const nlohmann::json& list) {
  std::vector<FileHash> files;
  for (const auto& entry : list) files.push_back({entry.at("file"), entry.at("xxh64")});
  return files;
}

std::string value_text(const Json& value) { return value.is_null() ? "not set" : value.dump(); }

void compare_settings(const Json& before, const Json& now, std::vector<std::string>& found) {
  std::set<std::string> keys;
  for (const Json* settings : {&before, &now})
    for (const auto& [key, value] : settings->items()) keys.insert(key);
  for (const std::string& key : keys) {
    const auto usual = default_values().find(key);
    const Json otherwise = usual == default_values().end() ? Json() : usual->second;
    const Json was = before.value(key, otherwise), is = now.value(key, otherwise);
    if (was != is) found.push_back(fmt::format("{} was {} and is {}", key, value_text(was), value_text(is)));
  }
}

// Names do not matter, contents and their order do.
void compare_files(const char* set, const std::vector<FileHash>& before, const std::vector<FileHash>& now,
                   std::vector<std::string>& found) {
  if (before.size() != now.size())
    found.push_back(fmt::format("data.{} named {} files and names {}", set, before.size(), now.size()));
  else
    for (size_t i = 0; i < now.size(); ++i)
      if (before[i].hash != now[i].hash) found.push_back(fmt::format("{} has other contents", now[i].name));
}

}  // namespace

nlohmann::ordered_json DatasetRecord::json() const {
  return {{"settings", settings}, {"train", json_of(train)}, {"valid", json_of(valid)}, {"tokenizer", tokenizer}};
}

DatasetRecord record_dataset(const Recipe& recipe) {
  DatasetRecord record;
  for (const auto& [key, value] : recipe_values(recipe)) {
    const auto usual = default_values().find(key);
    const bool is_default = usual != default_values().end() && usual->second == value;
    if (changes_data(key, recipe) && !is_default) record.settings[key] = value;
  }
  record.train = hash_texts(recipe, recipe.data.train);
  record.valid = hash_texts(recipe, recipe.data.valid);
  return record;
}

std::optional<DatasetRecord> record_from(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("settings")) return std::nullopt;
  try {
    DatasetRecord record;
    record.settings = json.at("settings");
    if (!record.settings.is_object()) return std::nullopt;
    record.train = files_from(json.at("train"));
    record.valid = files_from(json.at("valid"));
    record.tokenizer = json.at("tokenizer").get<std::map<std::string, std::string>>();
    return record;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::optional<DatasetRecord> trained_dataset(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / "training.json", ignored)) return std::nullopt;
  const nlohmann::json json = read_json(folder / "training.json");
  if (!json.is_object()) return std::nullopt;
  if (auto record = record_from(json.value("dataset", nlohmann::json()))) return record;
  DatasetRecord old;
  if (const auto files = json.find("files_xxh64"); files != json.end() && files->is_object())
    for (const auto& [name, hash] : files->items())
      if (hash.is_string()) old.train.push_back({name, hash.get<std::string>()});
  return old;
}

std::vector<std::string> differences(const DatasetRecord& before, const DatasetRecord& now) {
  std::vector<std::string> found;
  if (before.settings.empty() && before.valid.empty() && before.tokenizer.empty()) {  // by version 0.1
    for (const auto* files : {&now.train, &now.valid})
      for (const FileHash& file : *files) {
        const auto same = [&](const FileHash& other) { return other.name == file.name && other.hash != file.hash; };
        if (std::any_of(before.train.begin(), before.train.end(), same))
          found.push_back(fmt::format("{} has other contents", file.name));
      }
    return found;
  }
  compare_settings(before.settings, now.settings, found);
  compare_files("train", before.train, now.train, found);
  compare_files("valid", before.valid, now.valid, found);
  return found;
}

std::map<std::string, std::string> hash_tokenizer(const fs::path& folder) {
  std::map<std::string, std::string> hashes;
  std::error_code ignored;
  for (const char* name :
       {"source.spm", "target.spm", "vocab.json", "tokenizer.json", "tokenizer.model", "tokenizer_config.json"})
    if (fs::exists(folder / name, ignored)) hashes[name] = hash_text(hash_file(folder / name));
  return hashes;
}

void check_tokenizer(const fs::path& folder, const std::map<std::string, std::string>& recorded) {
  const auto now = hash_tokenizer(folder);
  const auto refuse = [&](const std::string& name, const char* what) {
    fail("[data] {}: {} since the run began: its ids would mean something else: put it back, or choose another folder",
         (folder / name).string(), what);
  };
  for (const auto& [name, hash] : recorded) {
    const auto found = now.find(name);
    if (found == now.end()) refuse(name, "was removed");
    if (found->second != hash) refuse(name, "has changed");
  }
  for (const auto& [name, hash] : now)
    if (!recorded.contains(name)) refuse(name, "was put there");
}

}  // namespace limpid
