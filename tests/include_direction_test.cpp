// Holds the house together: folders of src/ use only what stands before them in the limpid_folders(...) line of
// CMakeLists.txt, and only app/ talks to the user or ends the program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kReporter = "app";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> folder_order(const fs::path& root) {
  const std::string text = read(root / "CMakeLists.txt");
  std::smatch line;
  std::vector<std::string> folders;
  if (!std::regex_search(text, line, std::regex(R"(\nlimpid_folders\(([^)]*)\))"))) return folders;
  std::istringstream words(line[1]);
  for (std::string word; words >> word;) folders.push_back(word);
  return folders;
}

// Where the comment or quotation that begins at `at` ends; `at` itself if none begins there.
size_t end_of_part(const std::string& text, size_t at) {
  const auto after = [&](const std::string& mark, size_t from) {
    const size_t found = text.find(mark, from);
    return found == std::string::npos ? text.size() : found + mark.size();
  };
  const std::string_view rest = std::string_view(text).substr(at);
  const bool in_word = at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) return after("*/", at + 2);
  if (rest.starts_with("R\"") && !in_word) {
    const size_t open = rest.find('(');
    if (open != std::string_view::npos) return after(')' + std::string(rest.substr(2, open - 2)) + '"', at + open);
  }
  if (rest.front() != '"' && (rest.front() != '\'' || in_word)) return at;  // in a word, ' separates digits
  size_t i = at + 1;
  while (i < text.size() && text[i] != rest.front() && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

// The text without comments and, unless asked for, without quotations; lines keep their numbers.
std::string code_only(const std::string& text, bool keep_quotes) {
  std::string code;
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of_part(text, at);
    if (end == at) {
      code += text[at++];
      continue;
    }
    const std::string part = text.substr(at, end - at);
    const auto lines = static_cast<size_t>(std::count(part.begin(), part.end(), '\n'));
    code += keep_quotes && part.front() != '/' ? part : std::string(lines, '\n');
    at = end;
  }
  return code;
}

struct Tree {
  fs::path source;                  // src/
  std::vector<std::string> order;   // its folders
  std::vector<std::string> faults;  // "file:line: what is wrong"

  size_t rank(const std::string& folder) const {
    return static_cast<size_t>(std::find(order.begin(), order.end(), folder) - order.begin());
  }
  void fault(const fs::path& file, size_t line, const std::string& what) {
    faults.push_back(fs::relative(file, source).string() + ":" + std::to_string(line) + ": " + what);
  }

  template <class Check>
  void each_line(const std::string& code, Check check) {
    std::istringstream lines(code);
    size_t number = 0;
    for (std::string line; std::getline(lines, line);) check(line, ++number);
  }

  void check_includes(const fs::path& file, const std::string& folder, const std::string& text) {
    static const std::regex kInclude(R"re(^\s*#\s*include\s+["<]([^">]+)[">])re");
    each_line(code_only(text, true), [&](const std::string& line, size_t number) {
      std::smatch match;
      if (!std::regex_search(line, match, kInclude)) return;
      const std::string name = match[1];
      const std::string used = name.substr(0, name.find('/'));
      if (used == ".." || name.find("/../") != std::string::npos) {
        fault(file, number, "includes by a path that climbs: " + name);
      } else if (rank(used) < order.size() && rank(used) > rank(folder)) {
        fault(file, number, folder + "/ may not use " + name);
      } else if (folder != kReporter && (used == "CLI" || name == "iostream")) {
        fault(file, number, "only " + std::string(kReporter) + "/ may use " + name);
      }
    });
  }

  void check_silence(const fs::path& file, const std::string& text) {
    static const std::array<std::pair<std::regex, const char*>, 2> kForbidden = {{
        {std::regex(R"(\b(std::(cout|cerr|clog)|fmt::print)\b|\b(v?f?printf|f?puts|f?putc|putchar|perror)\s*\()"),
         "prints: return it or throw"},
        {std::regex(R"(\b(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\()"), "ends the program: throw Error"},
    }};
    each_line(code_only(text, false), [&](const std::string& line, size_t number) {
      for (const auto& [pattern, what] : kForbidden) {
        if (std::regex_search(line, pattern)) fault(file, number, what);
      }
    });
  }

  // An exception of std::filesystem would leave the library as it is: base/paths.h throws Error instead, and a call
  // whose last argument is an error code throws nothing.
  void check_paths(const fs::path& file, const std::string& text) {
    static const std::regex kCall(
        R"(\b(fs|filesystem)::(exists|is_(directory|empty|other|regular_file|symlink)|absolute|canonical|copy(_file)?)"
        R"(|create_(directory|directories|symlink)|current_path|equivalent|file_size|last_write_time|permissions)"
        R"(|read_symlink|relative|remove(_all)?|rename|resize_file|status|symlink_status|weakly_canonical)\()");
    static const std::regex kCode(R"(\b(error|ignored|none)\s*$)");
    if (text.find("filesystem") == std::string::npos && text.find("fs::") == std::string::npos) return;
    const std::string code = code_only(text, false);
    const auto line_of = [&](size_t at) {
      return static_cast<size_t>(std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1;
    };
    for (std::sregex_iterator call(code.begin(), code.end(), kCall), last; call != last; ++call) {
      const auto begin = static_cast<size_t>(call->position() + call->length());
      size_t end = begin;
      for (int depth = 1; end < code.size(); ++end) {
        depth += code[end] == '(' ? 1 : code[end] == ')' ? -1 : 0;
        if (depth == 0) break;
      }
      if (!std::regex_search(code.substr(begin, end - begin), kCode))
        fault(file, line_of(static_cast<size_t>(call->position())), "may throw what is no Error: ask base/paths.h");
    }
    const size_t iterator = code.find("directory_iterator");
    if (iterator != std::string::npos && fs::relative(file, source) != "base/paths.cpp")
      fault(file, line_of(iterator), "its steps may throw what is no Error: paths_in()");
  }

  // Who calls the library knows of no command line.
  void check_messages(const fs::path& file, const std::string& text) {
    static const std::regex kOption(R"([^-\w]--[a-z])");
    size_t line = 1;
    for (size_t at = 0, end = 0; at < text.size(); at = std::max(end, at + 1)) {
      end = end_of_part(text, at);
      const std::string part = text.substr(at, std::max<size_t>(1, end - at));
      if (end > at && part.front() != '/' && std::regex_search(part, kOption))
        fault(file, line, "names an option of the command line");
      line += static_cast<size_t>(std::count(part.begin(), part.end(), '\n'));
    }
  }

  void check_file(const fs::path& file) {
    const fs::path inside = fs::relative(file, source);
    const std::string folder = inside.has_parent_path() ? inside.begin()->string() : "";
    if (!folder.empty() && rank(folder) == order.size()) {
      fault(file, 1, "folder " + folder + " is not in limpid_folders()");
      return;
    }
    const std::string text = read(file);
    // limpid.h stands outside the folders and offers all of them but the reporter.
    check_includes(file, folder.empty() ? order[order.size() - 2] : folder, text);
    const bool test = file.stem().string().ends_with("_test");
    if (folder != kReporter && !test) check_silence(file, text);
    if (folder == kReporter || test) return;
    check_paths(file, text);
    if (rank(folder) < rank("experiments")) check_messages(file, text);  // those above quote commands on purpose
  }
};

// Every breach of the two rules in root/src, as "file:line: what is wrong", in order of files.
std::vector<std::string> find_faults(const fs::path& root) {
  Tree tree{.source = root / "src", .order = folder_order(root), .faults = {}};
  if (tree.order.size() < 2 || tree.order.back() != kReporter) return {"CMakeLists.txt: no limpid_folders(... app)"};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(tree.source)) {
    const auto extension = entry.path().extension();
    if (extension == ".h" || extension == ".cpp") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) tree.check_file(file);
  return tree.faults;
}

// A made-up tree with the folders base, kernels and app.
class MadeUpTree : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    write("CMakeLists.txt", "project(x)\nlimpid_folders(base kernels app)\n");
    write("src/base/error.h", "#include <string>\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }

  fs::path root_ = fs::temp_directory_path() / ("limpid_tree_" + std::to_string(::getpid()));
};

TEST_F(MadeUpTree, AcceptsWhatGoesBackwardsOrStays) {
  write("src/base/a.h", "#include \"base/error.h\"\n");
  write("src/kernels/b.cpp",
        "#include <vector>\n#include \"base/error.h\"\n#include \"kernels/c.h\"\n#include \"hwy/highway.h\"\n");
  write("src/app/main.cpp",
        "#include <CLI/CLI.hpp>\n#include \"kernels/b.h\"\nint main() { std::cout << 1; exit(2); }\n");
  write("src/limpid.h", "#include \"base/error.h\"\n#include \"kernels/b.h\"\n");
  EXPECT_THAT(find_faults(root_), IsEmpty());
}

TEST_F(MadeUpTree, CatchesWhatGoesForwards) {
  write("src/base/a.h", "\n#include \"kernels/b.h\"\n");
  write("src/base/a_test.cpp", "#include <app/b.h>\n");
  write("src/limpid.h", "#include \"app/b.h\"\n");
  EXPECT_THAT(find_faults(root_),
              ElementsAre("base/a.h:2: base/ may not use kernels/b.h", "base/a_test.cpp:1: base/ may not use app/b.h",
                          "limpid.h:1: kernels/ may not use app/b.h"));
}

TEST_F(MadeUpTree, CatchesPathsThatThrowWhatIsNoError) {
  write("src/base/a.cpp",
        "bool a = fs::exists(folder / \"x\", ignored);\nbool b = fs::exists(folder / \"x\");\n"
        "bool c = std::filesystem::is_directory(of(x));\nbool d = path_exists(x);\nfs::copy(a, b / f(c),\n"
        "         options | more, error);\nfs::rename(a,\n b);\nfor (auto& e : fs::directory_iterator(x, error)) "
        "f(e);\n");
  write("src/base/a_test.cpp", "bool b = fs::exists(x);\n");
  EXPECT_THAT(find_faults(root_),
              ElementsAre(HasSubstr("base/a.cpp:2: may throw"), HasSubstr("base/a.cpp:3: may throw"),
                          HasSubstr("base/a.cpp:7: may throw"), HasSubstr("base/a.cpp:9: its steps may throw")));
}

TEST_F(MadeUpTree, CatchesMessagesThatNameOptions) {
  write("src/base/a.cpp", "fail(\"take --top 3\");\nfor (int i = 3; i--;) f(\"a--b \\\"\", --i);\nfail(\"--all\");\n");
  write("src/app/a.cpp", "fail(\"take --top 3\");\n");
  EXPECT_THAT(find_faults(root_),
              ElementsAre(HasSubstr("base/a.cpp:1: names an option"), HasSubstr("base/a.cpp:3: names an option")));
}

TEST_F(MadeUpTree, CatchesPathsThatClimbAndFoldersOutsideTheOrder) {
  write("src/kernels/b.cpp", "#include \"../base/error.h\"\n");
  write("src/other/c.h", "");
  EXPECT_THAT(find_faults(root_), ElementsAre(HasSubstr("kernels/b.cpp:1: includes by a path that climbs"),
                                              HasSubstr("other/c.h:1: folder other is not in limpid_folders()")));
}

TEST_F(MadeUpTree, CatchesALibraryThatPrintsOrExits) {
  const auto faults_of = [&](const std::string& line) {
    write("src/kernels/b.cpp", "\n" + line + "\n");
    return find_faults(root_);
  };
  for (const char* line : {"std::cerr << 1;", "std::cout<<x;", "std::clog << x;", "printf(\"x\");",
                           "std::fprintf(f, \"\");", "puts (\"x\");", "fmt::print(\"x\");", "exit(1);", "std::abort();",
                           "::_exit(2);", "std::terminate();", "#include <CLI/CLI.hpp>", "#include <iostream>"}) {
    EXPECT_THAT(faults_of(line), ElementsAre(HasSubstr("kernels/b.cpp:2: "))) << line;
  }
  for (const char* line : {"std::snprintf(b, 9, \"x\");", "int exit_code;", "on_exit(x);", "// printf(x), exit(1)",
                           "/* std::cout\n abort() */", "fail(\"call exit(1) or abort()\");", "x = R\"(exit(1))\";",
                           "a = '\"'; b = '\"';", "a = \"\\\"exit(1)\";"}) {
    EXPECT_THAT(faults_of(line), IsEmpty()) << line;
  }
  for (const char* line : {"a = '\"'; exit(1); b = '\"';", "a = 1'000; exit(1); b = 2'000;", "a = \"//\"; exit(1);"}) {
    EXPECT_THAT(faults_of(line), ElementsAre(HasSubstr("kernels/b.cpp:2: ends the program"))) << line;
  }
}

TEST_F(MadeUpTree, LetsTestsPrint) {
  write("src/kernels/b_test.cpp", "std::cout << 1;\n");
  EXPECT_THAT(find_faults(root_), IsEmpty());
}

TEST_F(MadeUpTree, NeedsTheFolderLine) {
  write("CMakeLists.txt", "# limpid_folders(base app)\n");
  EXPECT_THAT(find_faults(root_), ElementsAre(HasSubstr("no limpid_folders")));
}

TEST(Repository, KeepsTheDirectionOfDependenceAndTheLibrarySilent) {
  EXPECT_THAT(find_faults(LIMPID_SOURCE_DIR), IsEmpty());
}

}  // namespace
