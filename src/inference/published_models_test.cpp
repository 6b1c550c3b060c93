// Published models give their published results, and published vocabularies their expected ids. The files are not part
// of the repository: the tests look for them in a folder "shared" beside it, or where LIMPID_SHARED says.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <sstream>

#include "base/file.h"
#include "inference/decoder_state.h"
#include "inference/loaded_model.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

fs::path shared_folder() {
  const char* set = std::getenv("LIMPID_SHARED");
  return set ? fs::path(set) : fs::path(LIMPID_SOURCE_DIR).parent_path() / "shared";
}

// What a language model writes from its begin token, the likeliest token each time.
std::vector<int32_t> greedy(const LoadedModel& loaded, int64_t tokens) {
  const auto state = make_decoder_state(*loaded.model);
  const std::vector<std::vector<int32_t>> start = {loaded.tokenizers.before};
  std::vector<int32_t> ids = state->add(start), written;
  for (int64_t i = 0; i < tokens; ++i) {
    const Tensor logits = state->step(ids);
    const real* row = logits.values().row(0);
    ids[0] = static_cast<int32_t>(std::max_element(row, row + loaded.config().vocab) - row);
    written.push_back(ids[0]);
  }
  return written;
}

// Scores of every next token, (tokens, vocabulary).
std::vector<real> logits(const Model& model, const std::vector<std::vector<int32_t>>& texts) {
  Batch batch;
  batch.input = Tokens::of(texts);
  batch.labels.assign(batch.input.ids.size(), 0);
  Arena arena;
  limpid::Run run({.arena = arena});
  const Tensor scores = model.logits(run, batch);
  const real* first = scores.values().row(0);
  return {first, first + scores.rows() * scores.cols()};
}

class PublishedModels : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(weights())) GTEST_SKIP() << "no models in " << weights() << ": set LIMPID_SHARED";
  }
  static fs::path weights() { return shared_folder() / "weights"; }
};

// The text that llama2.c's documentation shows for this model at temperature 0.
constexpr std::string_view kStory =
    "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a "
    "big, red ball. She wanted to play with it, but it was too high.\nLily's mom said, \"Lily, let's go to the park.\" "
    "Lily was sad and didn't know what to do.";

TEST_F(PublishedModels, StoriesTellTheirDocumentedText) {
  const LoadedModel loaded = load_model(weights() / "stories260K" / "stories260K.bin");
  const std::vector<int32_t> ids = greedy(loaded, 200);
  const std::string text = loaded.tokenizers.target->decode(ids);
  EXPECT_EQ(text.substr(0, kStory.size()), kStory);
  // The text that begins it is read as it was written.
  const auto again = loaded.tokenizers.source->encode(text.substr(0, kStory.size()));
  EXPECT_TRUE(std::equal(again.begin(), again.end(), ids.begin()));
}

TEST_F(PublishedModels, EightBitsAreNear) {
  const fs::path folder = weights() / "stories260K";
  const LoadedModel whole = load_model(folder / "stories260K.bin"), eight = load_model(folder / "stories260K-q8.bin");
  std::vector<int32_t> ids = whole.tokenizers.source->encode(kStory);
  ids.insert(ids.begin(), whole.tokenizers.before.begin(), whole.tokenizers.before.end());
  const std::vector<real> a = logits(*whole.model, {ids}), b = logits(*eight.model, {ids});
  ASSERT_EQ(a.size(), b.size());
  double square = 0, size = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    square += std::pow(a[i] - b[i], 2);
    size += std::pow(a[i], 2);
    largest = std::max<double>(largest, std::abs(a[i] - b[i]));
  }
  EXPECT_LT(std::sqrt(square / size), 0.01);
  EXPECT_LT(largest, 0.5);
  EXPECT_GT(largest, 0);
}

TEST_F(PublishedModels, NanoGptSortsWithItsPublishedLogits) {
  const fs::path folder = weights() / "gpt-nano-sort";
  const LoadedModel loaded = load_model(folder, {.need_tokenizers = false});
  EXPECT_EQ(loaded.tokenizers.source, nullptr);
  const SafetensorsFile published(folder / "published.safetensors");
  const SafetensorsEntry* tokens = published.find("tokens");
  ASSERT_TRUE(tokens && tokens->type_name == "I64");
  std::vector<std::vector<int32_t>> texts;
  for (int64_t text = 0; text < tokens->shape[0]; ++text) {
    texts.emplace_back();
    for (int64_t i = 0; i < tokens->shape[1]; ++i) {
      int64_t id = 0;
      std::memcpy(&id, tokens->bytes.data() + (text * tokens->shape[1] + i) * 8, sizeof id);
      texts.back().push_back(static_cast<int32_t>(id));
    }
  }
  std::vector<real> expected(static_cast<size_t>(published.get("logits").count()));
  read_reals(published.get("logits"), expected.data());
  const std::vector<real> ours = logits(*loaded.model, texts);
  ASSERT_EQ(ours.size(), expected.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], expected[i], 1e-5) << i;
}

// Texts and the ids expected for them stand beside each vocabulary, as llama.cpp has them (models/ggml-vocab-*.gguf,
// .inp, .out). Six are expected; whatever else lies there is tried too.
class PublishedVocabularies : public testing::TestWithParam<std::string> {};

std::vector<std::string> vocabularies() {
  std::set<std::string> names = {"bert-bge", "deepseek-llm", "falcon", "gpt-2", "llama-spm", "starcoder"};
  const fs::path folder = shared_folder() / "tokenizers";
  constexpr std::string_view begin = "ggml-vocab-", end = ".gguf.inp";
  if (fs::exists(folder))
    for (const auto& file : fs::directory_iterator(folder))
      if (const std::string name = file.path().filename().string(); name.starts_with(begin) && name.ends_with(end))
        names.insert(name.substr(begin.size(), name.size() - begin.size() - end.size()));
  return {names.begin(), names.end()};
}

TEST_P(PublishedVocabularies, GiveTheExpectedIds) {
  const fs::path path = shared_folder() / "tokenizers" / fmt::format("ggml-vocab-{}.gguf", GetParam());
  if (!fs::exists(path)) GTEST_SKIP() << "no vocabulary " << path << ": set LIMPID_SHARED";
  const Tokenizers tokenizers = open_tokenizers(path);
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::string texts = read_text(path.string() + ".inp");
  std::istringstream lines(read_text(path.string() + ".out"));
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const size_t end = texts.find(separator);
    ASSERT_NE(end, std::string::npos);
    const std::string text = texts.substr(0, end);
    texts.erase(0, end + separator.size());
    std::istringstream numbers(line);
    const std::vector<int32_t> expected{std::istream_iterator<int32_t>(numbers), {}};
    EXPECT_EQ(tokenizers.source->encode(text), expected) << text;
    if (GetParam() != "bert-bge") {  // which loses case, marks and spaces
      EXPECT_EQ(tokenizers.source->decode(expected), text);
    }
  }
  EXPECT_GE(count, 40u);
  EXPECT_EQ(texts, "");
}

INSTANTIATE_TEST_SUITE_P(Published, PublishedVocabularies, testing::ValuesIn(vocabularies()));

}  // namespace
}  // namespace limpid
