// What folders of sentence-transformers say, and the vectors that come of it.

#include "inference/sentence_settings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/temporary_folder.h"
#include "inference/loaded_model.h"
#include "inference/model_text.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

TEST(SentenceSettings, AreThoseOfTheFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_sentence_settings(folder.path()).embedding.pooling, Pooling::mean);
  fs::create_directories(folder.path() / "1_Pooling");
  write_text(folder.path() / "modules.json",
             R"([{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
                 {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                 {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])");
  write_text(folder.path() / "1_Pooling" / "config.json",
             R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})");
  write_text(folder.path() / "sentence_bert_config.json", R"({"max_seq_length": 256, "do_lower_case": false})");
  write_text(folder.path() / "config_sentence_transformers.json",
             R"({"prompts": {"query": "query: ", "document": ""}, "default_prompt_name": null})");
  const SentenceSettings settings = read_sentence_settings(folder.path());
  EXPECT_EQ(settings.embedding.pooling, Pooling::first);
  EXPECT_TRUE(settings.embedding.normalize);
  EXPECT_EQ(settings.max_tokens, 256);
  EXPECT_EQ(settings.prompt("query"), "query: ");
  EXPECT_EQ(settings.prompt(""), "");
  EXPECT_THROW(settings.prompt("querry"), Error);
  for (const char* outside : {"../1_Pooling", "/etc", "1_Pooling/../../x"}) {
    write_text(folder.path() / "modules.json",
               fmt::format(R"([{{"path": "{}", "type": "sentence_transformers.models.Pooling"}}])", outside));
    EXPECT_THROW(read_sentence_settings(folder.path()), Error) << outside;
  }
  write_text(folder.path() / "modules.json", R"([{"path": "", "type": "sentence_transformers.models.LSTM"}])");
  EXPECT_THROW(read_sentence_settings(folder.path()), Error);
}

// As older folders lie: the model itself in a folder of its own.
TEST(SentenceSettings, OfModulesWithFoldersOfTheirOwn) {
  const TemporaryFolder folder;
  for (const char* name : {"0_Transformer", "1_Pooling"}) fs::create_directories(folder.path() / name);
  write_text(folder.path() / "modules.json",
             R"([{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"},
                 {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                 {"path": "2_Dropout", "type": "sentence_transformers.models.Dropout"}])");
  write_text(folder.path() / "0_Transformer" / "sentence_bert_config.json",
             R"({"max_seq_length": 128, "do_lower_case": true})");
  write_text(folder.path() / "1_Pooling" / "config.json",
             R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true, "pooling_mode_max_tokens": true,
                 "include_prompt": false})");
  const SentenceSettings settings = read_sentence_settings(folder.path());
  EXPECT_EQ(settings.max_tokens, 128);
  EXPECT_EQ(settings.embedding.pooling, Pooling::first);
  EXPECT_EQ(settings.embedding.further, (std::vector{Pooling::largest, Pooling::mean}));
  EXPECT_FALSE(settings.pools_prompt);
  EXPECT_EQ(settings.prepared(" \tA \u00c4 b\n"), "a \u00e4 b");
  EXPECT_EQ(SentenceSettings().prepared(" A "), " A ");
  EXPECT_EQ(transformer_folder(folder.path()), folder.path() / "0_Transformer");
  write_text(folder.path() / "config.json", "{}");
  EXPECT_EQ(transformer_folder(folder.path()), folder.path());
}

// As the library's classes take what a file leaves out.
TEST(SentenceSettings, KeysLeftOut) {
  const TemporaryFolder folder;
  write_text(folder.path() / "modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
                                                 {"path": "", "type": "sentence_transformers.models.Pooling"}])");
  const auto pooling = [&](const char* config) {
    write_text(folder.path() / "config.json", config);
    const EmbeddingOptions read = read_sentence_settings(folder.path()).embedding;
    std::vector<Pooling> all = {read.pooling};
    all.insert(all.end(), read.further.begin(), read.further.end());
    return all;
  };
  EXPECT_EQ(pooling(R"({"word_embedding_dimension": 8})"), std::vector{Pooling::mean});
  EXPECT_EQ(pooling(R"({"pooling_mode_cls_token": true})"), (std::vector{Pooling::first, Pooling::mean}));
  EXPECT_EQ(pooling(R"({"pooling_mode": "CLS", "pooling_mode_mean_tokens": true})"), std::vector{Pooling::first});
  write_text(folder.path() / "tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  EXPECT_EQ(read_sentence_settings(folder.path()).max_tokens, 0);
  write_text(folder.path() / "tokenizer_config.json", R"({"model_max_length": 512})");
  EXPECT_EQ(read_sentence_settings(folder.path()).max_tokens, 512);
  write_text(folder.path() / "sentence_xlm-roberta_config.json", R"({"max_seq_length": 128})");
  EXPECT_EQ(read_sentence_settings(folder.path()).max_tokens, 128);
}

// The model's documentation publishes these similarities; another implementation gave the vectors.
TEST(SentenceSettings, MiniLmGivesThePublishedVectors) {
  const fs::path folder = fs::path(LIMPID_SOURCE_DIR).parent_path() / "shared" / "weights" / "all-MiniLM-L6-v2";
  if (!fs::exists(folder)) GTEST_SKIP() << "needs " << folder;
  const LoadedModel loaded = load_model(folder);
  const nlohmann::json reference = read_json(folder / "reference.json");
  std::vector<std::vector<int32_t>> texts;
  for (const auto& sentence : reference.at("sentences"))
    texts.push_back(input_ids(loaded, sentence.get<std::string>()));
  const auto vectors = embed(*loaded.model, texts, {.normalize = true});
  for (size_t i = 0; i < vectors.size(); ++i)
    for (size_t j = 0; j < vectors[i].size(); ++j)
      ASSERT_NEAR(vectors[i][j], reference.at("vectors")[i][j].get<double>(), 1e-5) << i << ", " << j;
  const auto similarity = [&](size_t a, size_t b) {
    double sum = 0;
    for (size_t j = 0; j < vectors[a].size(); ++j)
      sum += static_cast<double>(vectors[a][j]) * static_cast<double>(vectors[b][j]);
    return sum;
  };
  EXPECT_NEAR(similarity(0, 1), 0.6660, 2e-4);
  EXPECT_NEAR(similarity(0, 2), 0.1046, 2e-4);
  EXPECT_NEAR(similarity(1, 2), 0.1411, 2e-4);
}

}  // namespace
}  // namespace limpid
