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
  std::string member;  // in the manifest behind "#": the address is of a packed tarball that holds it
};

// The manifest: every file of every data set. An empty path: the one that comes with the recipes.
std::vector<StoredFile> read_manifest(const std::filesystem::path& path = {});

// Whether all files of a set are in the store, as long as they should be: what was broken off is not.
bool is_here(const std::string& name, const std::vector<StoredFile>& manifest);

// The folder of a recipe's data: as it says, or in the store. Where it is in neither, an Error says how to get it.
std::filesystem::path find_data(const std::string& folder);

}  // namespace limpid
