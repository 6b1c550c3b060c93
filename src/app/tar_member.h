#pragma once
// One file out of a packed tarball, as npm's registry serves its packages.

#include <cstdint>
#include <filesystem>
#include <string>

namespace limpid {

// Writes the member ("package/config.json") to `out`. An Error where there is none, where it is longer than `most`
// bytes, or where the tarball is damaged.
void extract_member(const std::filesystem::path& tarball, const std::string& member, const std::filesystem::path& out,
                    int64_t most);

}  // namespace limpid
