#pragma once
// The page's files: what its build wrote to page/dist, beside the program or installed with it.

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "server/http.h"

namespace limpid {

// Where the page lies: LIMPID_PAGE if set, beside the program's source tree (page/dist), or installed
// (share/limpid/page). Where it has not been built yet, where it will be; empty: nowhere.
std::filesystem::path find_page();

// All files of the folder, read once: when the server starts, or, if the page is still being built then, when it is
// first asked for afterwards. Requests are looked up by name in what was read, so that no path of a request ever
// reaches the file system.
class PageFiles {
 public:
  explicit PageFiles(const std::filesystem::path& folder);

  // The file at a path such as "assets/index.js"; "" is index.html. Without a page, how to get one. Throws 404.
  // `gzip`: who asks reads compressed answers, and gets "NAME.gz" where it lies beside the file.
  Response answer(const std::string& path, bool gzip = false) const;

 private:
  struct File {
    std::string bytes, content_type, compressed = {};
  };
  void read() const;

  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, File> files_;
};

}  // namespace limpid
