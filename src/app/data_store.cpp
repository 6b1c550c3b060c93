#include "app/data_store.h"

#include <algorithm>
#include <cstdlib>

#include "app/recipe_file.h"
#include "app/terminal.h"
#include "base/error.h"
#include "text/line_reader.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split_tabs(std::string_view line) {
  std::vector<std::string> fields;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    fields.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

bool safe_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

}  // namespace

fs::path data_store() {
  if (const char* folder = std::getenv("LIMPID_DATA"); folder && *folder) return folder;
  const char* home = std::getenv("HOME");
  return fs::path(home && *home ? home : ".") / ".cache" / "limpid";
}

std::vector<StoredFile> read_manifest(const fs::path& path) {
  const fs::path file = path.empty() ? recipe_folder() / "data.tsv" : path;
  std::vector<StoredFile> files;
  LineReader reader(file);
  while (const auto line = reader.next()) {
    if (line->empty() || line->front() == '#') continue;
    const std::vector<std::string> fields = split_tabs(*line);
    check(fields.size() == 5 && safe_name(fields[0]) && safe_name(fields[1]) && fields[3].size() == 64,
          "[get] {}, line {}: should be name, file, bytes, SHA-256 and address, with tabs between them", file,
          reader.line());
    const size_t mark = std::min(fields[4].find('#'), fields[4].size());
    files.push_back({fields[0], fields[1], std::atoll(fields[2].c_str()), fields[3], fields[4].substr(0, mark),
                     fields[4].substr(std::min(mark + 1, fields[4].size()))});
  }
  return files;
}

bool is_here(const std::string& name, const std::vector<StoredFile>& manifest) {
  std::error_code none;
  const fs::path folder = data_store() / name;
  return fs::exists(folder, none) && std::all_of(manifest.begin(), manifest.end(), [&](const StoredFile& file) {
           return file.name != name || (fs::exists(folder / file.file, none) &&
                                        fs::file_size(folder / file.file, none) == static_cast<uintmax_t>(file.bytes));
         });
}

fs::path find_data(const std::string& folder) {
  std::error_code none;
  if (folder.empty() || fs::exists(folder, none)) return folder;
  const std::vector<StoredFile> files = read_manifest();
  if (is_here(folder, files)) return data_store() / folder;
  const bool known =
      std::any_of(files.begin(), files.end(), [&](const StoredFile& file) { return file.name == folder; });
  if (known)
    fail("[recipe] the data {0} are not {3}here: {1} get {0} downloads them to {2}", folder, program_name(),
         (data_store() / folder).string(), fs::exists(data_store() / folder, none) ? "all " : "");
  for (const std::string_view own : {"copy", "reverse", "sort", "repeat", "facts", "english-korean"})
    if (folder == own)
      fail("[recipe] the data {0} are not here: {1} data {0} --out {0} makes them", folder, program_name());
  if (folder == "english-korean-help")
    fail("[recipe] the data {0} are not here: scripts/{0} makes them from Debian packages, in {1}", folder,
         (data_store() / folder).string());
  return folder;  // reading it will say what is missing
}

}  // namespace limpid
