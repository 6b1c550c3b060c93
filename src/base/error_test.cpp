#include "base/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

namespace limpid {
namespace {

template <class Body>
Error error_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return Error("none");
}

TEST(Error, HasATextAndAKind) {
  const Error plain = error_of([] { fail("[here] {} of {}", 1, "two"); });
  EXPECT_STREQ(plain.what(), "[here] 1 of two");
  EXPECT_EQ(plain.kind(), ErrorKind::bad_input);
  const Error other = error_of([] { fail(ErrorKind::not_found, "[here] no {}", std::string("file")); });
  EXPECT_STREQ(other.what(), "[here] no file");
  EXPECT_EQ(other.kind(), ErrorKind::not_found);
}

TEST(Error, PartsOfAMessageAreMadeOnlyWhereACheckFails) {
  const std::vector<int> numbers = {1, 2};
  const int* none = nullptr;
  int calls = 0;
  check(
      true, "{} {}", [&] { return *none; }, fmt::join(numbers, ", "));
  check(true, "{}", [&] { return ++calls; });
  EXPECT_EQ(calls, 0);
  const Error error = error_of([&] {
    check(
        false, "{} {:>3} [{}]", [&] { return fmt::format("call {}", ++calls); }, 7, fmt::join(numbers, ", "));
  });
  EXPECT_STREQ(error.what(), "call 1   7 [1, 2]");
}

TEST(Error, APathIsGivenAsItIs) {
  const std::filesystem::path path = "folder/file name";
  EXPECT_STREQ(error_of([&] { check(false, "[here] {}: no", path); }).what(), "[here] folder/file name: no");
}

}  // namespace
}  // namespace limpid
