#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "base/random_cases.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(std::string_view text) {
  try {
    parse_json(text, "[json] x");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

TEST(Json, Parses) {
  const auto value = parse_json(" {\"a\": [1, -2, 0.5, \"\\u00e4ä\"], \"b\": {\"a\": null}}\n", "x");
  EXPECT_EQ(value["a"][1], -2);
  EXPECT_EQ(value["a"][3], "ää");
  EXPECT_TRUE(value["b"]["a"].is_null());
  EXPECT_EQ(parse_json("7", "x"), 7);
}

TEST(Json, SaysWhere) {
  EXPECT_THAT(error_of("{\n  \"a\": 1,\n  \"b\": }\n"), StartsWith("[json] x:3:8: "));
  EXPECT_THAT(error_of("{\"ä\": x}"), StartsWith("[json] x:1:7: ")) << "columns are characters";
  EXPECT_THAT(error_of("{\"a\": 1"), StartsWith("[json] x:1:8: ")) << "just after the end";
  EXPECT_THAT(error_of("[1, 2]\n]"), StartsWith("[json] x:2:1: "));
  EXPECT_THAT(error_of("{\"a\": 1,}"), HasSubstr("expected string literal"));
  EXPECT_THAT(error_of(""), StartsWith("[json] x: is empty"));
  EXPECT_THAT(error_of(" \n"), StartsWith("[json] x: is empty"));
  EXPECT_THAT(error_of("[1e999]"), StartsWith("[json] x:1:6: number overflow"));
}

// Random texts, most of them damaged: what is accepted is what the library's own parser reads, and what that one
// refuses is refused. Ours alone refuses keys that come twice.
TEST(Json, AgreesWithAnotherParser) {
  constexpr std::string_view kParts[] = {"{",           "}",     "[",
                                         "]",           ",",     ":",
                                         "\"a\"",       "\"b\"", "\"\\u00e4\\n\"",
                                         "0",           "-1",    "1.5e3",
                                         "01",          "1e400", "18446744073709551616",
                                         "true",        "null",  "nul",
                                         " ",           "\n",    "\"\t\"",
                                         "\"\\ud800\"", "\"ä\"", "+1",
                                         ".5",          "//",    "NaN"};
  int64_t accepted = 0;
  for (int64_t number = 0; number < random_cases(20000); ++number) {
    Random random(static_cast<uint64_t>(number));
    std::string text;
    const std::function<void(int)> write = [&](int depth) {  // a value
      const int64_t kind = depth > 3 ? 0 : random.below(3);
      if (kind == 0) {
        text += kParts[6 + random.below(17)];
      } else {
        text += kind == 1 ? "[" : "{";
        for (int64_t i = 0, count = random.below(4); i < count; ++i) {
          if (i > 0) text += ",";
          if (kind == 2) text += "\"" + std::string(1, static_cast<char>('a' + random.below(6))) + "\":";
          write(depth + 1);
        }
        text += kind == 1 ? "]" : "}";
      }
    };
    write(0);
    if (random.below(2) == 0)
      text.insert(static_cast<size_t>(random.below(std::ssize(text) + 1)), kParts[random.below(std::ssize(kParts))]);
    const nlohmann::json other = nlohmann::json::parse(text, nullptr, false);
    const std::string error = error_of(text);
    if (error.empty()) {
      ++accepted;
      ASSERT_FALSE(other.is_discarded()) << text;
      ASSERT_EQ(parse_json(text, "x"), other) << text;
    } else if (!other.is_discarded()) {
      ASSERT_THAT(error, HasSubstr("twice")) << text;
    }
  }
  EXPECT_GT(accepted, random_cases(20000) / 10);
}

TEST(Json, RefusesTextThatIsNotUtf8) {
  EXPECT_THAT(error_of("[\"\xff\"]"), HasSubstr("UTF-8"));
  EXPECT_THAT(error_of("[\"\xc3\"]"), HasSubstr("UTF-8"));          // half a character
  EXPECT_THAT(error_of("[\"\xed\xa0\x80\"]"), HasSubstr("UTF-8"));  // a surrogate
  EXPECT_THAT(error_of(std::string_view("[\"\0\"]", 5)), HasSubstr("control character"));
}

TEST(Json, RefusesTheSameKeyTwice) {
  EXPECT_THAT(error_of(R"({"a": 1, "b": {"a": 2, "c": 3, "c": 4}})"), HasSubstr("the key \"c\" twice"));
  EXPECT_THAT(error_of(R"({"a": 1, "\u0061": 2})"), HasSubstr("the key \"a\" twice"));
  EXPECT_EQ(error_of(R"([{"a": 1, "b": {"a": 2}}, {"a": 3}])"), "");
}

TEST(Json, DepthIsLimited) {
  EXPECT_EQ(error_of(repeated("[", kMaxJsonDepth) + repeated("]", kMaxJsonDepth)), "");
  EXPECT_THAT(error_of(repeated("[", kMaxJsonDepth + 1) + repeated("]", kMaxJsonDepth + 1)),
              HasSubstr("nested deeper"));
  EXPECT_THAT(error_of(repeated("[", 1000000)), HasSubstr("nested deeper"));
  EXPECT_THAT(error_of(repeated("{\"a\":", 1000000)), HasSubstr("nested deeper"));
}

TEST(Json, MessagesStayShortAndHarmless) {
  const std::string error = error_of("{\"a\": \"" + std::string(1000000, 'x') + "\x1b[2J\x80");
  EXPECT_LT(error.size(), 400u);
  EXPECT_EQ(in_quotes("plain name").string(), "\"plain name\"");
  EXPECT_EQ(in_quotes("\x1b[2J\xff").string(), "\"\\x1b[2J\\xff\"");
  EXPECT_EQ(in_quotes(std::string(1000, 'x')).string(), '"' + std::string(100, 'x') + "...\"");
}

TEST(Json, File) {
  const TemporaryFolder folder;
  write_text(folder / "config.json", "{\"a\":\n 1 1}");
  try {
    read_json(folder / "config.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith("[json] " + (folder / "config.json").string() + ":2:4: "));
  }
  EXPECT_THROW(read_json(folder / "missing.json"), Error);
}

}  // namespace
}  // namespace limpid
