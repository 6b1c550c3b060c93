#pragma once
// manifest.json: the size and checksum of every other file in a folder, by which a damaged copy is known.
//
//   {"files": {"state.json": {"bytes": 812, "xxh64": "44bc2cf5ad770999"}, …}}

#include <filesystem>

namespace limpid {

// Describes the files that lie in the folder now.
void write_manifest(const std::filesystem::path& folder);

// Throws an Error that says which file is missing, cut short or changed, unless all are as described.
void verify_manifest(const std::filesystem::path& folder);

}  // namespace limpid
