#pragma once
// Where downloaded data lie, and what can be downloaded.

#include <filesystem>
#include <string>
#include <vector>

namespace limpid {

// $LIMPID_DATA, else ~/.cache/limpid.
std::filesystem::path data_store();

struct StoredFile {
  std::string name, file;  // the data set, and the file in it
  int64_t bytes = 0;
  std::string sha256, url;
};

// The manifest: every file of every data set. An empty path: the one that comes with the recipes.
std::vector<StoredFile> read_manifest(const std::filesystem::path& path = {});

// The folder of a recipe's data: as it says, or in the store. Where it is in neither, an Error says how to get it.
std::filesystem::path find_data(const std::string& folder);

}  // namespace limpid
