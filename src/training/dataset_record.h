#pragma once
// DatasetRecord: what a dataset was made from, and the tokenizer that made its ids. data/dataset.json and training.json
// keep it, so that a run that goes on with other text, other settings or another tokenizer says so, instead of training
// old weights on ids that mean something else.

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "training/recipe.h"

namespace limpid {

struct FileHash {
  std::string name;  // as the recipe has it
  std::string hash;  // of the contents
  bool operator==(const FileHash&) const = default;
};

struct DatasetRecord {
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();  // keys that change the ids, defaults left out
  std::vector<FileHash> train, valid;
  std::map<std::string, std::string> tokenizer;  // its files in the run's folder and their hashes; empty: not known

  nlohmann::ordered_json json() const;
};

// Of the files and settings as they are now; the tokenizer stays open.
DatasetRecord record_dataset(const Recipe& recipe);

// What a file of JSON has recorded, nothing where it has no such record.
std::optional<DatasetRecord> record_from(const nlohmann::json& json);

// What the run in the folder has been trained on, by its training.json. Files written by version 0.1 know the contents
// of the texts alone; then only those are there, by name and without an order, all in `train`.
std::optional<DatasetRecord> trained_dataset(const std::filesystem::path& folder);

// One line for each setting and text that differs: "tokenizer.vocab was 8000 and is 12". The tokenizer is not compared.
std::vector<std::string> differences(const DatasetRecord& before, const DatasetRecord& now);

// The hashes of the tokenizer's files in a run's folder, and an Error that names the file where one is not what was
// recorded.
std::map<std::string, std::string> hash_tokenizer(const std::filesystem::path& folder);
void check_tokenizer(const std::filesystem::path& folder, const std::map<std::string, std::string>& recorded);

}  // namespace limpid
