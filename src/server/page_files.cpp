#include "server/page_files.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/paths.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLargestFile = 64 << 20;

std::string content_type_of(const fs::path& path) {
  static const std::map<std::string, std::string> kTypes = {{".html", "text/html; charset=utf-8"},
                                                            {".js", "text/javascript; charset=utf-8"},
                                                            {".css", "text/css; charset=utf-8"},
                                                            {".json", "application/json"},
                                                            {".svg", "image/svg+xml"},
                                                            {".png", "image/png"},
                                                            {".ico", "image/x-icon"},
                                                            {".woff2", "font/woff2"},
                                                            {".wasm", "application/wasm"},
                                                            {".txt", "text/plain; charset=utf-8"},
                                                            {".map", "application/json"},
                                                            {".webmanifest", "application/manifest+json"}};
  const auto found = kTypes.find(path.extension().string());
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

// The page talks to its own server alone and runs its own scripts alone.
Headers page_headers() {
  return {{"Content-Security-Policy",
           "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; worker-src 'self' blob:; "
           "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
          {"X-Frame-Options", "DENY"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

constexpr std::string_view kNoPage =
    R"(<!doctype html><html lang="en"><meta charset="utf-8"><title>Limpid</title>
<body style="font:16px/1.5 sans-serif;max-width:40em;margin:3em auto;padding:0 1em">
<h1>The server is running. Its page has not been built.</h1>
<p>To build it, in Limpid's folder (it takes Node 18 or newer):</p>
<pre>cd page &amp;&amp; npm ci &amp;&amp; npm run build</pre>
<p>and start the server again. The programming interfaces work without it: see <a href="/openapi.json">/openapi.json</a>.</p>
)";

}  // namespace

fs::path find_page() {
  if (const char* chosen = std::getenv("LIMPID_PAGE")) return chosen;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (fs::path folder = program.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    for (const char* place : {"page/dist", "share/limpid/page"})
      if (fs::exists(folder / place / "index.html", ignored)) return folder / place;
    if (fs::exists(folder / "page/package.json", ignored)) return folder / "page/dist";
    if (folder == folder.root_path()) break;
  }
  return {};
}

PageFiles::PageFiles(const fs::path& folder) : folder_(folder) { read(); }

void PageFiles::read() const {
  std::error_code ignored;
  if (folder_.empty() || !fs::exists(folder_ / "index.html", ignored)) return;
  std::vector<fs::path> left = paths_in(folder_);
  while (!left.empty()) {
    const fs::path path = std::move(left.back());
    left.pop_back();
    if (fs::is_symlink(path, ignored)) continue;  // it may lead out of the folder, or round in a circle
    if (is_folder(path)) {
      const std::vector<fs::path> below = paths_in(path);
      left.insert(left.end(), below.begin(), below.end());
      continue;
    }
    const auto size = fs::file_size(path, ignored);
    if (ignored || !fs::is_regular_file(path, ignored) || static_cast<int64_t>(size) > kLargestFile) continue;
    std::ifstream file(path, std::ios::binary);
    files_[path.lexically_relative(folder_).generic_string()] = {
        {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}, content_type_of(path)};
  }
  for (auto& [name, file] : files_)
    if (const auto compressed = files_.find(name + ".gz"); compressed != files_.end())
      file.compressed = std::move(compressed->second.bytes);
  std::erase_if(files_, [](const auto& file) { return file.first.ends_with(".gz"); });
}

Response PageFiles::answer(const std::string& path, bool gzip) const {
  const std::lock_guard lock(mutex_);
  if (files_.empty() && path.empty()) read();
  if (files_.empty() && path.empty()) return {503, std::string(kNoPage), "text/html; charset=utf-8", page_headers()};
  const auto found = files_.find(path.empty() ? "index.html" : path);
  if (found == files_.end()) throw HttpError(404, fmt::format("There is nothing at /{}.", path));
  Headers headers = page_headers();
  // Names of built files hold a hash of what is in them.
  headers.emplace_back("Cache-Control",
                       path.starts_with("assets/") ? "public, max-age=31536000, immutable" : "no-cache");
  const File& file = found->second;
  if (!file.compressed.empty()) headers.emplace_back("Vary", "Accept-Encoding");
  if (!gzip || file.compressed.empty()) return {200, file.bytes, file.content_type, std::move(headers)};
  headers.emplace_back("Content-Encoding", "gzip");
  return {200, file.compressed, file.content_type, std::move(headers)};
}

}  // namespace limpid
