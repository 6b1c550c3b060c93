// A name means one thing: no two files of src/ define a type or a constant of the same name in the same namespace. The
// linker keeps one of two such definitions and says nothing; files that include both headers would not compile.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Comments and quotations become blanks.
std::string code_of(std::string text) {
  static const std::regex kNotCode(R"re(//[^\n]*|R"([a-z]*)\([^]*?\)\1"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)')re");
  std::string code;
  auto last = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), kNotCode), end; it != end; ++it) {
    code.append(last, text.cbegin() + it->position());
    code += ' ';
    last = text.cbegin() + it->position() + it->length();
  }
  code.append(last, text.cend());
  return std::regex_replace(code, std::regex(R"((^|\n)[ \t]*#[^\n]*)"), "\n");  // nor what the preprocessor reads
}

// The definitions in a file's named namespaces: "limpid::Example". What stands in an unnamed one is the file's own.
std::vector<std::string> definitions(const std::string& text) {
  static const std::regex kNamespace(R"(^\s*(?:inline\s+)?namespace\s*([\w:]*)\s*$)");
  static const std::regex kType(
      R"((?:^|\s)(?:struct|class|union|enum\s+class|enum)\s+(\w+)\s*(?:final\s*)?(?::(?!:)[^]*)?$)");
  static const std::regex kConstant(R"((?:^|\s)inline\s+(?:constexpr|const)\s+[\w:<>,\s]*?\b(\w+)\s*(?:=|\{|$))");
  std::vector<std::string> found, scopes;
  int inside = 0;  // braces within a definition or a function
  std::string head;
  const auto full = [&](const std::string& name) {
    std::string result;
    for (const std::string& scope : scopes) result += scope + "::";
    return result + name;
  };
  const auto own = [&] { return std::find(scopes.begin(), scopes.end(), "") != scopes.end(); };
  const auto look_for_constant = [&] {
    std::smatch match;
    if (inside == 0 && !own() && head.find("template") == std::string::npos &&
        std::regex_search(head, match, kConstant) && head.find('(') > static_cast<size_t>(match.position(1)))
      found.push_back(full(match[1]));
  };
  for (const char c : code_of(text)) {
    std::smatch match;
    if (c == '{') {
      if (inside == 0 && std::regex_search(head, match, kNamespace)) {
        scopes.push_back(match[1]);
      } else {
        if (inside == 0 && !own() && head.find("template") == std::string::npos &&
            head.find('(') == std::string::npos && head.find('=') == std::string::npos &&
            std::regex_search(head, match, kType))
          found.push_back(full(match[1]));
        look_for_constant();
        ++inside;
      }
      head.clear();
    } else if (c == '}') {
      if (inside > 0)
        --inside;
      else if (!scopes.empty())
        scopes.pop_back();
      head.clear();
    } else if (c == ';') {
      look_for_constant();
      head.clear();
    } else {
      head += c;
    }
  }
  return found;
}

std::vector<std::string> defined_twice(const fs::path& source) {
  std::map<std::string, std::vector<std::string>> places;
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".h" && path.extension() != ".cpp") continue;
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    for (const std::string& name : definitions(text.str())) {
      auto& where = places[name];
      const std::string at = fs::relative(path, source).string();
      if (where.empty() || where.back() != at) where.push_back(at);
    }
  }
  std::vector<std::string> faults;
  for (const auto& [name, where] : places) {
    if (where.size() < 2) continue;
    std::string fault = name + " is defined in";
    for (const std::string& at : where) fault += " " + at;
    faults.push_back(fault);
  }
  return faults;
}

TEST(OneDefinition, OfEveryTypeAndConstant) {
  EXPECT_THAT(defined_twice(fs::path(LIMPID_SOURCE_DIR) / "src"), testing::IsEmpty());
}

TEST(OneDefinition, IsFoundWhereItIsAndNotWhereItIsNot) {
  const auto found = definitions(R"cpp(
#include "a.h"
    namespace limpid {
    // struct NotThis {
    struct A {
      int x = 0;
      struct Within {
        int y;
      };
    };
    class B final : public A {
      void f() {
        struct Local {};
      }
    };
    enum class C { one, two };
    inline constexpr int kOne = 1;
    inline constexpr std::array<int, 2> kTwo = {1, 2};
    inline int function(int x) { return x; }
    namespace {
    struct Own {};
    constexpr int kOwn = 2;
    }  // namespace
    namespace kernels {
    struct D {};
    }  // namespace kernels
    struct Declared;
    template <class T>
    struct Special {};
    }  // namespace limpid
    namespace limpid::HWY_NAMESPACE {
    inline constexpr int64_t kLanes = hn::MaxLanes(Reals());
    }
  )cpp");
  EXPECT_THAT(found, testing::ElementsAre("limpid::A", "limpid::B", "limpid::C", "limpid::kOne", "limpid::kTwo",
                                          "limpid::kernels::D", "limpid::HWY_NAMESPACE::kLanes"));
}

}  // namespace
