#include "base/base64.h"

#include <gtest/gtest.h>

namespace limpid {
namespace {

TEST(Base64, ThereAndBack) {  // the cases of RFC 4648
  const std::pair<std::string, std::string> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(bytes_of_base64(text), bytes);
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(bytes_of_base64(base64(all)), all);
  EXPECT_EQ(bytes_of_base64("Zm9v\nYmFy"), "foobar");
}

}  // namespace
}  // namespace limpid
