#include "inference/generation_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace limpid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class GenerationConfigs : public testing::Test {
 protected:
  GenerationConfig read(const std::string& text) const {
    write_text(folder_ / "generation_config.json", text);
    return read_generation_config(folder_.path(), 6);
  }
  std::string error(const std::string& text) const {
    try {
      read(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  TemporaryFolder folder_;
};

TEST_F(GenerationConfigs, ValuesAreRead) {
  const GenerationConfig config = read(
      R"({"eos_token_id": [2, 3], "num_beams": 6, "max_length": 512, "length_penalty": 0.8, "do_sample": true,
          "temperature": 0.6, "top_p": 0.9, "top_k": 40, "suppress_tokens": null, "repetition_penalty": 1.3,
          "no_repeat_ngram_size": 3, "min_length": 5, "bad_words_ids": [[5], [1, 2]], "begin_suppress_tokens": [1],
          "forced_bos_token_id": 4, "forced_eos_token_id": 2})");
  EXPECT_THAT(config.rules.ends, ElementsAre(2, 3));
  EXPECT_EQ(config.beams, 6);
  EXPECT_EQ(config.max_length, 512);
  EXPECT_EQ(config.max_tokens, std::nullopt);
  EXPECT_EQ(config.length_penalty, 0.8);
  EXPECT_EQ(config.do_sample, true);
  EXPECT_EQ(config.temperature, 0.6);
  EXPECT_EQ(config.top_p, 0.9);
  EXPECT_EQ(config.top_k, 40);
  EXPECT_EQ(config.repetition_penalty, 1.3);
  EXPECT_EQ(config.rules.no_repeat_ngram, 3);
  EXPECT_EQ(config.rules.least_tokens, 4);  // the start token counts there
  EXPECT_THAT(config.rules.bad_words, ElementsAre(ElementsAre(5), ElementsAre(1, 2)));
  EXPECT_THAT(config.rules.suppressed, testing::IsEmpty());
  EXPECT_THAT(config.rules.suppressed_first, ElementsAre(1));
  EXPECT_EQ(config.rules.forced_first, 4);
  EXPECT_EQ(config.rules.forced_last, 2);
  EXPECT_EQ(read(R"({"max_length": 512, "max_new_tokens": 7})").max_tokens, 7);
}

TEST_F(GenerationConfigs, WrongValuesAreErrors) {
  EXPECT_THAT(error(R"({"bad_words_ids": [[6]]})"), HasSubstr("a token id below 6"));
  EXPECT_THAT(error(R"({"bad_words_ids": [1]})"), HasSubstr("a list of token ids"));
  EXPECT_THAT(error(R"({"bad_words_ids": [[]]})"), HasSubstr("a list of token ids"));
  EXPECT_THAT(error(R"({"forced_eos_token_id": -1})"), HasSubstr("forced_eos_token_id"));
  EXPECT_THAT(error(R"({"num_beams": "four"})"), HasSubstr("a whole number"));
  EXPECT_THAT(error("[]"), HasSubstr("not an object"));
}

TEST_F(GenerationConfigs, OlderModelsSayItInTheirConfig) {
  EXPECT_TRUE(read_generation_config(folder_.path(), 6).rules.bad_words.empty());
  write_text(folder_ / "config.json", R"({"bad_words_ids": [[5]], "num_beams": 4})");
  EXPECT_EQ(read_generation_config(folder_.path(), 6).rules.bad_words.size(), 1u);
}

}  // namespace
}  // namespace limpid
