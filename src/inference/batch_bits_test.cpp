// A text has the same bits alone and in company: every product of a row is computed without regard to the other rows.

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "inference/byte_tokenizer.h"
#include "inference/complete.h"
#include "inference/generate.h"
#include "inference/small_translators.h"

namespace limpid {
namespace {

class BatchBits : public testing::TestWithParam<std::string> {};

TEST_P(BatchBits, TranslationsAloneAndInABatch) {
  const SmallModel small = small_translator(GetParam());
  const auto sources = small_sources(40, 23);
  for (const int64_t beam : {1, 4}) {
    const GenerateOptions options{.beam = beam, .n_best = beam, .max_tokens = 9, .max_batch = 17};
    const auto together = translate(*small.model, sources, options);
    for (size_t i = 0; i < sources.size(); ++i) {
      const auto alone = translate(*small.model, {&sources[i], 1}, options).front();
      ASSERT_EQ(alone.size(), together[i].size());
      for (size_t j = 0; j < alone.size(); ++j) {
        EXPECT_EQ(alone[j].ids, together[i][j].ids);
        EXPECT_EQ(alone[j].log_probability, together[i][j].log_probability) << "text " << i << " hypothesis " << j;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, BatchBits, testing::ValuesIn(small_translator_names()), config_of_test);

class WriterBits : public testing::TestWithParam<std::string> {};

// With prompts that share a beginning, which one text reads and the others take over.
TEST_P(WriterBits, CompletionsAloneAndInABatch) {
  nlohmann::ordered_json json = small_configs().at(GetParam());
  json["vocab_size"] = 260;
  const SmallModel small = small_model(json);
  const ByteTokenizer bytes;
  std::vector<CompletionRequest> requests;
  for (uint64_t i = 0; i < 20; ++i) {
    CompletionRequest request{.options = {.max_tokens = 10, .ignore_end = true, .seed = 2}, .sample = i};
    for (const char c : std::string("a beginning in common ") + static_cast<char>('a' + i % 5))
      request.ids.push_back(static_cast<uint8_t>(c));
    requests.push_back(request);
  }
  const auto together = complete(*small.model, bytes, requests, {.max_batch = 7});
  for (size_t i = 0; i < requests.size(); ++i) {
    const Completion alone = complete(*small.model, bytes, {&requests[i], 1}).at(0);
    ASSERT_EQ(alone.tokens.size(), together[i].tokens.size());
    for (size_t j = 0; j < alone.tokens.size(); ++j)
      EXPECT_EQ(alone.tokens[j].log_probability, together[i].tokens[j].log_probability)
          << "text " << i << " token " << j;
  }
}

INSTANTIATE_TEST_SUITE_P(All, WriterBits, testing::Values("gpt2", "llama"),
                         [](const testing::TestParamInfo<std::string>& test) { return test.param; });

}  // namespace
}  // namespace limpid
