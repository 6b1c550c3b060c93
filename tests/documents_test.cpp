// Holds the documents to the tree: links lead somewhere, files that are named exist, and docs/paper-to-code.md points
// at symbols that are there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "base/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Faults = std::vector<std::string>;  // "file:line: what is wrong"

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Line {
  int64_t number;
  std::string text;
};

// The lines of a document that are not in a fenced block.
std::vector<Line> prose(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream stream(text);
  bool fenced = false;
  int64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const bool fence = line.starts_with("```");
    if (!fenced && !fence) lines.push_back({number, line});
    if (fence) fenced = !fenced;
  }
  return lines;
}

// Everything that the expression's first group finds in a line.
std::vector<std::string> all_matches(const std::string& line, const std::regex& expression) {
  std::vector<std::string> found;
  for (std::sregex_iterator it(line.begin(), line.end(), expression), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}

// What GitHub makes of a heading as the target of a link: small letters, "-" for spaces, no punctuation.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) || u >= 0x80 || c == '-' || c == '_') anchor += static_cast<char>(std::tolower(u));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

bool has_anchor(const fs::path& document, const std::string& anchor) {
  const std::vector<Line> lines = prose(read(document));
  return std::any_of(lines.begin(), lines.end(), [&](const Line& line) {
    const size_t hashes = line.text.find_first_not_of('#');
    return hashes != 0 && hashes != std::string::npos && line.text[hashes] == ' ' &&
           anchor_of(line.text.substr(hashes + 1)) == anchor;
  });
}

bool contains_word(const std::string& text, const std::string& word) {
  const auto in_word = [&](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (!(at > 0 && in_word(at - 1)) && !in_word(at + word.size())) return true;
  return false;
}

// Whether a word in backticks names a file or folder of ours: `./test`, `src/base/`, `kernels/norm.h`, `ops.h`.
// Folders called build hold what is made, not what is kept.
bool names_path(const std::string& word) {
  static const std::regex path(R"((\./)?[\w.+-]+(/[\w.+*-]+)*/?)");
  static const std::regex source(R"((.*/)?[\w*-]+\.(h|cpp|md|cmake|sh|py|txt))");
  if (word.starts_with("build/") || !std::regex_match(word, path)) return false;
  return word.starts_with("./") || word.ends_with('/') || std::regex_match(word, source);
}

class Documents {
 public:
  explicit Documents(fs::path root) : root_(std::move(root)) {}

  // Every fault of the *.md files in the root, in docs/ and in docs/ko/.
  Faults check() {
    for (const fs::path& folder : {root_, root_ / "docs", root_ / "docs/ko"}) {
      if (!fs::exists(folder)) continue;
      std::vector<fs::path> files;
      for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".md") files.push_back(entry.path());
      std::sort(files.begin(), files.end());
      for (const fs::path& file : files) check_document(file);
    }
    return faults_;
  }

 private:
  void check_document(const fs::path& file) {
    for (const Line& line : prose(read(file))) {
      check_links(file, line);
      check_paths(file, line);
      if (file.filename() == "paper-to-code.md" && line.text.starts_with('|')) check_row(file, line);
    }
  }

  void check_links(const fs::path& file, const Line& line) {
    static const std::regex link(R"(\]\(([^)\s]+)\))");
    for (const std::string& target : all_matches(line.text, link)) {
      if (target.find("://") != std::string::npos || target.starts_with("mailto:")) continue;
      const size_t hash = std::min(target.find('#'), target.size());
      const fs::path goal = hash == 0 ? file : file.parent_path() / target.substr(0, hash);
      if (!fs::exists(goal)) {
        fault(file, line, "a link leads to " + target + ", which does not exist");
      } else if (hash < target.size() && !has_anchor(goal, target.substr(hash + 1))) {
        fault(file, line, "a link leads to " + target + ", but there is no such heading");
      }
    }
  }

  void check_paths(const fs::path& file, const Line& line) {
    static const std::regex quoted(R"(`([^`\s]+)[^`]*`)");  // of a command, the first word
    for (const std::string& word : all_matches(line.text, quoted))
      if (names_path(word) && !path_exists(word)) fault(file, line, word + " does not exist");
  }

  // From the root, from src/, or as a bare name in any folder of src/; a part with * stands for what its folder holds.
  bool path_exists(const std::string& word) const {
    fs::path path = word;
    while (path.string().find('*') != std::string::npos) path = path.parent_path();
    if (fs::exists(root_ / path) || fs::exists(root_ / "src" / path)) return true;
    if (path.has_parent_path() || !fs::exists(root_ / "src")) return false;
    const fs::directory_iterator folders(root_ / "src");
    return std::any_of(begin(folders), end(folders),
                       [&](const auto& folder) { return fs::exists(folder.path() / path); });
  }

  // | paper | what | `file` | `symbol` |
  void check_row(const fs::path& file, const Line& line) {
    static const std::regex row(R"(\|[^|]+\|[^|]+\| `([^`|]+)` \| `([^`|]+)` \|)");
    std::smatch match;
    if (line.text.starts_with("|---") || line.text == "| paper | what | file | symbol |") return;
    if (!std::regex_match(line.text, match, row)) {
      fault(file, line, "not a row of paper, what, `file`, `symbol`");
    } else if (!fs::is_regular_file(root_ / match[1].str())) {
      fault(file, line, "there is no file " + match[1].str());
    } else if (!contains_word(read(root_ / match[1].str()), match[2])) {
      fault(file, line, match[1].str() + " has no " + match[2].str());
    }
  }

  void fault(const fs::path& file, const Line& line, const std::string& what) {
    faults_.push_back(file.lexically_relative(root_).string() + ":" + std::to_string(line.number) + ": " + what);
  }

  fs::path root_;
  Faults faults_;
};

// A made-up tree whose documents the checker must accept or refuse.
class MadeUpDocuments : public ::testing::Test {
 protected:
  void write(const fs::path& name, const std::string& text) {
    fs::create_directories((root_.path() / name).parent_path());
    std::ofstream(root_.path() / name, std::ios::binary) << text;
  }
  Faults faults_of(const std::string& name, const std::string& text) {
    write(name, text);
    return Documents(root_.path()).check();
  }
  void SetUp() override {
    write("src/kernels/norm.h", "void layer_norm(int x);\n");
    write("docs/other.md", "# A Heading: two words\n");
    write("test", "");
  }

  limpid::TemporaryFolder root_;
};

TEST_F(MadeUpDocuments, WhatExistsIsAccepted) {
  EXPECT_THAT(
      faults_of("README.md",
                "# Top\n[a](docs/other.md) [b](docs/other.md#a-heading-two-words) [c](#top) "
                "[d](https://example.org/x) `src/kernels/` `kernels/norm.h` `norm.h` `src/kernels/*.h` `./test --x` "
                "`build/x.h` `attn.q` `encoder.N.h` `config.json` `a/b`\n```\n[e](nowhere.md) `gone.h`\n```\n"),
      IsEmpty());
}

TEST_F(MadeUpDocuments, LinksThatLeadNowhereAreFound) {
  EXPECT_THAT(
      faults_of("docs/a.md", "[x](gone.md)\n\n[y](other.md#gone) [z](#gone) and [w](../README.md)\n"),
      ElementsAre(HasSubstr("docs/a.md:1: a link leads to gone.md"), HasSubstr("docs/a.md:3: a link leads to other"),
                  HasSubstr("docs/a.md:3: a link leads to #gone"), HasSubstr("docs/a.md:3: a link leads to ../R")));
}

TEST_F(MadeUpDocuments, FilesThatDoNotExistAreFound) {
  for (const char* name :
       {"`kernels/gone.h`", "`gone.cpp`", "`src/gone/`", "`gone/*.h`", "`./gone --x`", "`docs/gone.md`"})
    EXPECT_THAT(faults_of("CONTRIBUTING.md", std::string("one\ntwo ") + name + "\n"),
                ElementsAre(HasSubstr("CONTRIBUTING.md:2: ")))
        << name;
}

TEST_F(MadeUpDocuments, RowsThatPointAtNothingAreFound) {
  const std::string head = "| paper | what | file | symbol |\n|---|---|---|---|\n";
  const auto faults = [&](const std::string& row) { return faults_of("docs/paper-to-code.md", head + row + "\n"); };
  EXPECT_THAT(faults("| 3.1 | norm | `src/kernels/norm.h` | `layer_norm` |"), IsEmpty());
  EXPECT_THAT(faults("| 3.1 | norm | `src/kernels/norm.h` | `rms_norm` |"),
              ElementsAre(HasSubstr(":3: src/kernels/norm.h has no")));
  EXPECT_THAT(faults("| 3.1 | norm | `src/kernels/norm.h` | `layer` |"), ElementsAre(HasSubstr("has no layer")));
  EXPECT_THAT(faults("| 3.1 | norm | `src/kernels` | `layer_norm` |"), ElementsAre(HasSubstr("there is no file")));
  EXPECT_THAT(faults("| 3.1 | norm | src/kernels/norm.h | `layer_norm` |"), ElementsAre(HasSubstr("not a row")));
  EXPECT_THAT(faults("| 3.1 | `src/kernels/norm.h` | `layer_norm` |"), ElementsAre(HasSubstr("not a row")));
}

TEST(RepositoryDocuments, AgreeWithTheTree) {
  const fs::path root = LIMPID_SOURCE_DIR;
  for (const char* name :
       {"README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/taps.md", "docs/paper-to-code.md"})
    EXPECT_TRUE(fs::exists(root / name)) << name;
  EXPECT_GT(prose(read(root / "docs/paper-to-code.md")).size(), 60u);
  EXPECT_THAT(Documents(root).check(), IsEmpty());
}

}  // namespace
