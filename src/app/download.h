#pragma once
// One file from the network to the disk: resumed where it was broken off, checked, and put in its place whole.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace limpid {

struct Download {
  std::string url;
  std::string member;          // the file's name in the packed tarball that the address is of; empty: it is the file
  std::filesystem::path path;  // where it goes; what has come so far waits in path + ".part"
  int64_t bytes = 0;           // it has to have
  std::string sha256;
};

// Where the tarball waits until all that is wanted of it has been taken out: others may want another member.
std::filesystem::path tarball_of(const Download& file);

enum class DownloadResult { already_there, downloaded };

// `progress` hears how many bytes are there, also while nothing comes, and returns false to stop. An Error says what
// went wrong (ErrorKind::cancelled: it was stopped).
DownloadResult download(const Download& file, const std::function<bool(int64_t bytes)>& progress);

}  // namespace limpid
