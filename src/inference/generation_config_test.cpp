#include "inference/generation_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

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
  // Tokens that may come next.
  static std::vector<int> allowed(const GenerationConfig& config, std::vector<int32_t> written, bool last = false) {
    std::vector<real> scores = {5, -1, 0, 3, -2, 1};
    apply_token_rules(config, written, last, scores);
    std::vector<int> ids;
    for (size_t i = 0; i < scores.size(); ++i)
      if (std::isfinite(scores[i])) ids.push_back(static_cast<int>(i));
    return ids;
  }
  TemporaryFolder folder_;
};

TEST_F(GenerationConfigs, TokensAreForbiddenAndForced) {
  const GenerationConfig config = read(
      R"({"bad_words_ids": [[5], [1, 2], [3, 3, 4]], "suppress_tokens": [0], "begin_suppress_tokens": [1],
          "forced_eos_token_id": 2, "transformers_version": "4"})");
  EXPECT_THAT(allowed(config, {}), ElementsAre(2, 3, 4));
  EXPECT_THAT(allowed(config, {3}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(allowed(config, {3, 1}), ElementsAre(1, 3, 4));
  EXPECT_THAT(allowed(config, {3, 3}), ElementsAre(1, 2, 3));
  EXPECT_THAT(allowed(config, {3}, true), ElementsAre(2));
  // What is forced comes even where it is forbidden too, so that something comes.
  EXPECT_THAT(allowed(read(R"({"forced_bos_token_id": 4, "suppress_tokens": [4]})"), {}), ElementsAre(4));
  EXPECT_THAT(allowed(read("{}"), {}), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(GenerationConfigs, ValuesAreRead) {
  const GenerationConfig config = read(
      R"({"eos_token_id": [2, 3], "num_beams": 6, "max_length": 512, "length_penalty": 0.8, "do_sample": true,
          "temperature": 0.6, "top_p": 0.9, "top_k": 40, "suppress_tokens": null})");
  EXPECT_THAT(config.ends, ElementsAre(2, 3));
  EXPECT_EQ(config.beams, 6);
  EXPECT_EQ(config.max_tokens, 511);
  EXPECT_EQ(config.length_penalty, 0.8);
  EXPECT_EQ(config.draws, true);
  EXPECT_EQ(config.temperature, 0.6);
  EXPECT_EQ(config.top_p, 0.9);
  EXPECT_EQ(config.top_k, 40);
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
  EXPECT_TRUE(read_generation_config(folder_.path(), 6).bad_words.empty());
  write_text(folder_ / "config.json", R"({"bad_words_ids": [[5]], "num_beams": 4})");
  EXPECT_EQ(read_generation_config(folder_.path(), 6).bad_words.size(), 1u);
}

}  // namespace
}  // namespace limpid
