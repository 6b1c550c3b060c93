#include "training/manifest.h"

#include <map>
#include <string>
#include <system_error>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kManifestFile = "manifest.json";

void verify_file(const fs::path& folder, const std::string& name, const json& entry) {
  const std::string where = fmt::format("[checkpoint] {}", (folder / name).string());
  const auto bytes = entry.is_object() ? entry.find("bytes") : entry.end();
  const auto hash = entry.is_object() ? entry.find("xxh64") : entry.end();
  check(entry.is_object() && bytes != entry.end() && bytes->is_number_unsigned() && hash != entry.end() &&
            hash->is_string() && name.find('/') == name.npos,
        "{}: its entry in {} makes no sense: the checkpoint is damaged, use another", where, kManifestFile);
  std::error_code error;
  const uint64_t size = fs::file_size(folder / name, error);
  check(!error, "{}: {}: the checkpoint is damaged, use another", where, [&] { return error.message(); });
  check(size == bytes->get<uint64_t>(), "{}: has {} bytes instead of {}: the checkpoint is damaged, use another", where,
        size, bytes->get<uint64_t>());
  check(hash_text(hash_file(folder / name)) == hash->get<std::string>(),
        "{}: its contents are not what was written: the checkpoint is damaged, use another", where);
}

}  // namespace

void write_manifest(const fs::path& folder) {
  std::map<std::string, fs::path> files;  // in the order of their names
  for (const fs::path& path : paths_in(folder))
    if (path.filename() != kManifestFile) files.emplace(path.filename().string(), path);
  nlohmann::ordered_json manifest = {{"files", nlohmann::ordered_json::object()}};
  for (const auto& [name, path] : files) {
    std::error_code error;
    const uint64_t size = fs::file_size(path, error);
    if (error) fail(ErrorKind::io, "[checkpoint] {}: {}", path.string(), error.message());
    manifest["files"][name] = {{"bytes", size}, {"xxh64", hash_text(hash_file(path))}};
  }
  write_text(folder / kManifestFile, manifest.dump(2) + "\n");
}

void verify_manifest(const fs::path& folder) {
  const json manifest = read_json(folder / kManifestFile);
  const auto files = manifest.is_object() ? manifest.find("files") : manifest.end();
  check(manifest.is_object() && files != manifest.end() && files->is_object() && !files->empty(),
        "[checkpoint] {}: names no files: the checkpoint is damaged, use another",
        [&] { return (folder / kManifestFile).string(); });
  for (const auto& [name, entry] : files->items()) verify_file(folder, name, entry);
}

}  // namespace limpid
