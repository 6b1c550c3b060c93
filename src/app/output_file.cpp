#include "app/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace limpid {

namespace fs = std::filesystem;

namespace {

// Changes nothing.
void check_writable(const std::string& path) {
  if (path == "-") return;
  std::error_code none;
  check(!fs::is_directory(path, none), "[file] {}: is a folder: name a file to write", path);
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  check(fs::is_directory(folder, none), "[file] {}: there is no folder {}: make it, or name another file", path,
        folder);
  check(::access(folder.c_str(), W_OK) == 0, "[file] {}: nothing can be written in {}: look at its owner and mode",
        path, folder);
}

}  // namespace

CLI::Option* add_output_option(CLI::App& line, const std::string& name, std::string& path, const std::string& what) {
  return line.add_option(name, path, what + " (-: standard output)")->each(check_writable);
}

void write_output(const std::string& path, const std::string& text) {
  if (path == "-") {
    fmt::print("{}", text);
    return;
  }
  write_text(path, text);
  fmt::print(stderr, "Wrote {} ({})\n", path, bytes_text(text.size()));
}

}  // namespace limpid
