// limpid get: downloads data sets and small models that the documents use.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <map>

#include "app/command.h"
#include "app/data_store.h"
#include "app/download.h"
#include "app/progress.h"
#include "app/terminal.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/nearest.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

// A mirror holds the same files under NAME/FILE.
std::string address(const StoredFile& file, const std::string& mirror) {
  if (mirror.empty()) return file.url;
  return fmt::format("{}{}{}/{}", mirror, mirror.ends_with('/') ? "" : "/", file.name, file.file);
}

void list(const std::vector<StoredFile>& files, bool json) {
  std::map<std::string, std::pair<int64_t, int64_t>> sets;  // files, bytes
  for (const StoredFile& file : files) ++sets[file.name].first, sets[file.name].second += file.bytes;
  const int64_t width = terminal_width(STDOUT_FILENO);
  for (const auto& [name, size] : sets) {
    const bool here = is_here(name, files);
    if (json)
      fmt::print("{{\"name\": \"{}\", \"files\": {}, \"bytes\": {}, \"here\": {}}}\n", name, size.first, size.second,
                 here);
    else
      fmt::print("  {}\n", wrapped(fmt::format("{:16} {} file{}, {}{}", name, size.first, size.first == 1 ? "" : "s",
                                               bytes_text(static_cast<uint64_t>(size.second)), here ? " (here)" : ""),
                                   width - 2, 4));
  }
  if (!json)
    fmt::print("{}\n",
               wrapped(fmt::format("They go to {} (LIMPID_DATA says where else).", data_store().string()), width, 0));
}

std::vector<StoredFile> files_of(const std::string& name, const std::vector<StoredFile>& all) {
  std::vector<StoredFile> files;
  std::vector<std::string_view> names;
  for (const StoredFile& file : all) {
    if (file.name == name) files.push_back(file);
    names.emplace_back(file.name);
  }
  check(
      !files.empty(), "[get] there is no data set {}{}; {} get lists all", name,
      [&] { return did_you_mean(name, names); }, program_name());
  return files;
}

// Said when the network fails: what to bring by other means, and where to put it.
std::string by_hand(const std::vector<StoredFile>& files, const fs::path& folder, const std::string& mirror) {
  std::string text = fmt::format(
      "\nWithout a network: download these elsewhere, put them into {}, and run this again "
      "(it checks them).\n",
      folder.string());
  for (const StoredFile& file : files)
    text += fmt::format("  {}{}  {}\n", address(file, mirror),
                        mirror.empty() && !file.member.empty() ? " (" + file.member + " in it)" : "",
                        bytes_text(static_cast<uint64_t>(file.bytes)));
  text += "A copy of them on a server of yours is used by --mirror URL or LIMPID_MIRROR (URL/NAME/FILE).";
  return text;
}

}  // namespace

int run_get(int argc, char** argv) {
  CommandLine line("get",
                   "Downloads data sets and small models that the documents use, verifies them by SHA-256 and puts "
                   "them where recipes look. Broken off, it resumes. Without a name it lists what there is.",
                   "limpid get shakespeare");
  std::vector<std::string> names;
  std::string mirror, manifest;
  bool quiet = false, json = false;
  line.add_option("NAME", names, "data sets");
  line.add_option("--mirror", mirror, "a server with the same files under URL/NAME/FILE")->envname("LIMPID_MIRROR");
  line.add_option("--manifest", manifest, "a table of your own: name, file, bytes, SHA-256, address");
  line.add_flag("--quiet", quiet, "say only what went wrong");
  line.add_flag("--json", json, "print JSON, one object per line");
  if (const auto code = line.read(argc, argv)) return *code;

  const std::vector<StoredFile> all = read_manifest(manifest);
  if (names.empty()) {
    list(all, json);
    return 0;
  }
  const InterruptGuard guard;
  for (const std::string& name : names) {
    const std::vector<StoredFile> files = files_of(name, all);
    const fs::path folder = data_store() / name;
    int64_t total = 0, done = 0;
    for (const StoredFile& file : files) total += file.bytes;
    try {
      Progress progress(std::max<int64_t>(total, 1), quiet || json);
      for (const StoredFile& file : files) {
        const Download wanted{.url = address(file, mirror),
                              .member = mirror.empty() ? file.member : "",
                              .path = folder / file.file,
                              .bytes = file.bytes,
                              .sha256 = file.sha256};
        const DownloadResult result = download(wanted, [&](int64_t bytes) {
          progress.update(done + std::min(bytes, file.bytes), file.file);
          return !interrupted();
        });
        done += file.bytes;
        progress.clear();
        if (json)
          fmt::print("{{\"file\": \"{}\", \"bytes\": {}, \"downloaded\": {}}}\n", wanted.path.string(), file.bytes,
                     result == DownloadResult::downloaded);
        else if (!quiet)
          fmt::print("{}  {}{}\n", wanted.path.string(), bytes_text(static_cast<uint64_t>(file.bytes)),
                     result == DownloadResult::downloaded ? "" : ", was here already");
      }
      for (const StoredFile& file : files)
        if (std::error_code none; !file.member.empty())
          fs::remove(tarball_of({.url = file.url, .path = folder / file.file}), none);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::cancelled) {
        fmt::print(stderr, "limpid: {}\n", error.what());
        return 128 + interrupt_signal();
      }
      fail("{}{}", error.what(), by_hand(files, folder, mirror));
    }
  }
  return 0;
}

}  // namespace limpid
