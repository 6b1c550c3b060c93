#include "inference/loaded_model.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "formats/small_gguf.h"
#include "inference/generate.h"
#include "inference/model_text.h"
#include "inference/text_translator.h"
#include "inference/texts.h"
#include "models/small_models.h"
#include "text/tokenizer_training.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

class LoadedModels : public testing::Test {
 protected:
  void SetUp() override {
    const EachLine lines = [](const std::function<void(std::string_view)>& line) {
      line("abcde");
      line("edcba abc");
    };
    tokenizers_ = train_tokenizers({.kind = TokenizerKind::characters}, lines, lines);
    nlohmann::ordered_json json = small_configs().at("pegasus");
    json["vocab_size"] = tokenizers_.target->size();
    json["pad_token_id"] = tokenizers_.target->special().pad;
    json["eos_token_id"] = tokenizers_.target->special().end;
    write(json);
  }

  void write(const nlohmann::ordered_json& json) {
    fs::remove_all(folder());
    small_ = small_model(json);
    make_folder(folder());
    write_model(folder(), small_.model->config(), *small_.parameters);
    save_tokenizers(folder(), "pegasus", tokenizers_);
  }

  fs::path folder() const { return temporary_.path() / "model"; }
  std::string error() const {
    try {
      load_model(folder());
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
  void expect_error(const std::string& part) const { EXPECT_NE(error().find(part), std::string::npos) << error(); }
  nlohmann::ordered_json json() const { return small_.model->config().json; }

  TemporaryFolder temporary_;
  Tokenizers tokenizers_;
  SmallModel small_;
};

TEST_F(LoadedModels, TranslateAsTheModelThatWasWritten) {
  const LoadedModel loaded = load_model(folder());
  std::vector<int32_t> ids = loaded.tokenizers.source->encode("abc");
  EXPECT_EQ(loaded.tokenizers.target->decode(ids), "abc");
  ids.push_back(loaded.tokenizers.source->special().end);
  const auto before = translate(*small_.model, {&ids, 1}, {.max_tokens = 5});
  const auto after = translate(*loaded.model, {&ids, 1}, {.max_tokens = 5});
  EXPECT_EQ(before[0][0].ids, after[0][0].ids);
  EXPECT_NEAR(before[0][0].score, after[0][0].score, 1e-5);
}

// The model reads its source as its files say: with an end, or without one where tokenizer.json adds none.
TEST_F(LoadedModels, ReadTheSourceAsTheirFilesSay) {
  const std::vector<std::string> texts = {"abc"};
  const LoadedModel with = load_model(folder());
  nlohmann::json file = nlohmann::json::parse(read_text(folder() / "tokenizer.json"));
  file["post_processor"] = nullptr;
  write_text(folder() / "tokenizer.json", file.dump());
  const LoadedModel without = load_model(folder());
  const std::vector<int32_t> ids = without.tokenizers.source->encode("abc");
  EXPECT_EQ(input_ids(without, "abc"), ids);
  EXPECT_EQ(input_ids(with, "abc").size(), ids.size() + 1);
  for (const LoadedModel* model : {&with, &without}) {
    const TextTranslator translator(*model, {});
    TranslatedText text;
    const auto tasks = translator.start("abc", text);
    ASSERT_EQ(text.parts.size(), 1u);
    EXPECT_EQ(text.parts[0].source, input_ids(*model, "abc"));
  }
  write_text(folder() / "recipe.toml", "");  // trained here, hence with an end
  EXPECT_EQ(input_ids(load_model(folder()), "abc").size(), ids.size() + 1);
}

TEST_F(LoadedModels, ATokenizerOfFewerTokensIsNoted) {
  EXPECT_TRUE(load_model(folder()).config().notes.empty());
  nlohmann::ordered_json larger = json();
  larger["vocab_size"] = 400;
  write(larger);
  const std::vector<std::string> notes = load_model(folder()).config().notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("fewer than the 400 of the model's vocabulary"), std::string::npos) << notes[0];
}

// Such as a mask or a picture's token that the model was never given a vector for.
TEST_F(LoadedModels, ATokenizerOfMoreTokensIsNoted) {
  nlohmann::ordered_json smaller = json();
  smaller["vocab_size"] = tokenizers_.target->size() - 1;
  write(smaller);
  const LoadedModel loaded = load_model(folder());
  ASSERT_EQ(loaded.config().notes.size(), 1u);
  EXPECT_NE(loaded.config().notes[0].find("more than the"), std::string::npos) << loaded.config().notes[0];
  const auto last = static_cast<int32_t>(tokenizers_.target->size() - 1);
  EXPECT_THROW(input_ids(loaded, tokenizers_.source->piece(last)), Error);
  const std::string known = tokenizers_.source->piece(last - 1);
  EXPECT_EQ(translate(loaded, std::vector<std::string>{known}).size(), 1u);
}

// What a config says is compared with the files before anything is built by it.
TEST_F(LoadedModels, AConfigOfMoreThanTheFilesHold) {
  const auto expect = [&](const char* key, int64_t value, const std::string& part) {
    nlohmann::ordered_json changed = json();
    changed[key] = value;
    write_text(folder() / "config.json", changed.dump());
    expect_error(part);
  };
  expect("decoder_layers", 10000, "speaks of 10000 layers, but the files hold");
  expect("encoder_layers", 9000, "speaks of 9000 layers, but the files hold");
  expect("d_model", 3 << 12, "numbers at least, but the files hold");
  nlohmann::ordered_json changed = json();
  // Sinusoids: no file has them, and none are made before a text needs them.
  changed["max_position_embeddings"] = 10000000;
  write_text(folder() / "config.json", changed.dump());
  EXPECT_EQ(error(), "none");
}

// Weights that are packed change no promise: rows have the same bits in any company.
TEST_F(LoadedModels, PackedWeightsKeepATextsBits) {
  const LoadedModel loaded = load_model(folder());
  int64_t packed = 0;
  loaded.model->each_parameter([&](const Weight& weight) { packed += weight.packed != nullptr; });
  EXPECT_GT(packed, 0);
  std::vector<std::vector<int32_t>> sources;
  for (const char* text : {"abc", "e", "edcba abc", "a b c d", "dd"}) {
    sources.push_back(loaded.tokenizers.source->encode(text));
    sources.back().push_back(loaded.tokenizers.source->special().end);
  }
  const auto together = translate(*loaded.model, sources, {.max_tokens = 6});
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto alone = translate(*loaded.model, {&sources[i], 1}, {.max_tokens = 6});
    EXPECT_EQ(alone[0][0].ids, together[i][0].ids);
    EXPECT_EQ(alone[0][0].score, together[i][0].score);
  }
}

TEST_F(LoadedModels, WhatIsMissingIsNamed) {
  fs::remove(folder() / "model.safetensors");
  expect_error("model.safetensors");
  fs::remove(folder() / "config.json");
  expect_error("no config.json");
  fs::remove_all(folder());
  expect_error("there is no");
  write(json());
  EXPECT_EQ(error(), "none");
  for (const auto& file : fs::directory_iterator(folder()))
    if (file.path().filename().string().starts_with("tokenizer")) fs::remove(file.path());
  const LoadedModel loaded = load_model(folder());  // texts are ids then
  EXPECT_EQ(loaded.tokenizers.source->encode("3, 1 4"), (std::vector<int32_t>{3, 1, 4}));
  EXPECT_EQ(loaded.tokenizers.target->decode(std::vector<int32_t>{3, 1}), "3 1");
  EXPECT_THROW(loaded.tokenizers.source->encode("3 x"), Error);
  EXPECT_THROW(loaded.tokenizers.source->encode("100000"), Error);
}

TEST_F(LoadedModels, PartsThatDoNotFitAreRefused) {
  nlohmann::ordered_json other = json();
  other["vocab_size"] = tokenizers_.target->size() + 8;  // unused ids are fine
  write(other);
  EXPECT_EQ(error(), "none");
  other["eos_token_id"] = tokenizers_.target->special().end + 1;
  write(other);
  expect_error("eos_token_id");
}

TEST_F(LoadedModels, AModelWithoutTokenizersOpensWhereThatIsAllowed) {
  for (const auto& file : fs::directory_iterator(folder()))
    if (file.path().filename().string().starts_with("tokenizer")) fs::remove(file.path());
  const LoadedModel loaded = load_model(folder(), {.need_tokenizers = false});
  EXPECT_EQ(loaded.tokenizers.source, nullptr);
  EXPECT_EQ(loaded.config().model_type, "pegasus");
}

TEST_F(LoadedModels, FilesAreToldByWhatTheyHold) {
  const auto error_of = [&](const std::string& name, const std::string& bytes) -> std::string {
    write_text(temporary_ / name, bytes);
    try {
      load_model(temporary_ / name);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_NE(error_of("notes.txt", "hello").find("is no model"), std::string::npos);
  EXPECT_NE(error_of("model.bin", "hello").find("[llama2.c]"), std::string::npos);
  GgufBuilder vocabulary;
  vocabulary.text("general.architecture", "gpt2");
  vocabulary.integer("gpt2.embedding_length", 4);
  EXPECT_NE(error_of("any.name", vocabulary.bytes()).find("a vocabulary, no model"), std::string::npos);
  EXPECT_EQ(open_tokenizers(folder()).source->size(), tokenizers_.source->size());
  EXPECT_EQ(open_tokenizers(folder() / "tokenizer.json").source->size(), tokenizers_.source->size());
}

}  // namespace
}  // namespace limpid
