#include "inference/loaded_model.h"

#include <array>
#include <fstream>

#include "formats/gguf_model.h"
#include "formats/gguf_tokenizer.h"
#include "formats/llama2c.h"
#include "inference/gguf_pooling.h"
#include "text/id_tokenizer.h"
#include "text/tokenizer_training.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

void check_folder(const fs::path& folder) {
  check(fs::exists(folder / "config.json"), "[model] \"{}\" has no config.json: name the folder that training wrote",
        folder.string());
}

bool is_gguf(const fs::path& path) {
  std::array<char, 4> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return std::string_view(begin.data(), begin.size()) == "GGUF";
}

// Ids must mean the same to both: a tokenizer may leave ids unused, but not go beyond the model's vocabulary.
// Translators must agree about the end of a text; published language models name several and need not.
void check_tokenizer(const Tokenizer& tokenizer, const Config& config, const char* side) {
  check(tokenizer.size() <= config.vocab,
        "[model] the {} tokenizer has {} tokens, the model {}: these files do not belong together", side,
        tokenizer.size(), config.vocab);
  const int32_t end = tokenizer.special().end;
  const bool translates = config.family == Family::seq2seq || config.family == Family::rnn_seq2seq;
  check(!translates || !config.eos_token || end < 0 || *config.eos_token == end,
        "[model] a text ends with token {} for the {} tokenizer and with {} (eos_token_id) for the model: these files "
        "do not belong together",
        end, side, config.eos_token.value_or(-1));
}

// Of a model without a vocabulary: texts are token ids.
Tokenizers id_tokenizers(const Config& config) {
  const auto end = static_cast<int32_t>(config.has_source() ? config.eos_token.value_or(-1) : -1);
  const auto ids = std::make_shared<IdTokenizer>(config.vocab, end);
  return {ids, ids};
}

LoadedModel load_folder(const fs::path& folder, const LoadOptions& options) {
  check_folder(folder);
  Config config = read_model_config(folder);
  const bool has_words = has_tokenizers(folder);
  if (!has_words && options.need_tokenizers)
    config.notes.emplace_back("the folder has no vocabulary: texts are token ids, such as \"17 4 523\"");
  LoadedModel loaded;
  loaded.model = make_model(config);
  loaded.model->keep(std::make_shared<MappedWeights>(folder, *loaded.model));
  loaded.generation = read_generation_config(folder, loaded.config().vocab);
  loaded.sentence = read_sentence_settings(folder);
  if (has_words) {
    loaded.tokenizers = load_tokenizers(folder);
  } else if (options.need_tokenizers) {
    loaded.tokenizers = id_tokenizers(config);
  }
  return loaded;
}

LoadedModel load_gguf(const fs::path& path, const LoadOptions& options) {
  const auto file = std::make_shared<GgufFile>(path);
  const auto holder = std::make_shared<WeightHolder>();
  LoadedModel loaded;
  loaded.model = make_model(gguf_config(*file));
  attach_gguf(*file, *loaded.model, *holder);
  holder->keep(file);
  loaded.model->keep(holder);
  if (has_tokenizer(*file))
    loaded.tokenizers = gguf_tokenizers(*file);
  else if (options.need_tokenizers)
    loaded.tokenizers = id_tokenizers(loaded.config());
  const std::string pooling = file->text("general.architecture").value_or("") + ".pooling_type";
  loaded.sentence.embedding.pooling = pooling_of_gguf(file->whole(pooling).value_or(0));
  return loaded;
}

Tokenizers llama2c_tokenizers(const fs::path& tokens) {
  const auto tokenizer = read_llama2c_tokens(tokens);
  return {tokenizer, tokenizer, {tokenizer->special().begin}};
}

LoadedModel load_llama2c(const fs::path& path, const LoadOptions& options) {
  const auto file = std::make_shared<Llama2cFile>(path);
  const auto holder = std::make_shared<WeightHolder>();
  LoadedModel loaded;
  loaded.model = make_model(file->config());
  file->attach(*loaded.model, *holder);
  holder->keep(file);
  loaded.model->keep(holder);
  fs::path tokens = llama2c_tokens_beside(path, loaded.config().vocab);
  check(!tokens.empty() || !options.need_tokenizers,
        "[model] {}: lacks its tokens: put tokenizer.bin or tok{}.bin beside it", path.string(), loaded.config().vocab);
  if (!tokens.empty()) loaded.tokenizers = llama2c_tokenizers(tokens);
  return loaded;
}

// A model's file is as long as its header says; another one is the tokens themselves.
fs::path tokens_of_llama2c(const fs::path& path) {
  int64_t vocab = 0;
  try {
    vocab = Llama2cFile(path).config().vocab;
  } catch (const Error&) {
    return path;
  }
  fs::path tokens = llama2c_tokens_beside(path, vocab);
  check(!tokens.empty(), "[tokenizer] {}: lacks its tokens: put tokenizer.bin or tok{}.bin beside it", path.string(),
        vocab);
  return tokens;
}

// Translators and encoders read many texts at a time, which is faster with weights in another order, made when first
// used. A language model mostly writes one text: it begins at once, with its weights as they are stored.
void pack_where_it_pays(Model& model) {
  if (model.config().family == Family::language_model) return;
  model.visit_parameters([](Weight& weight) {
    if (weight.is_matrix() && weight.type == kRealType) weight.pack();
  });
}

}  // namespace

LoadedModel load_model(const fs::path& path, const LoadOptions& options) {
  check(fs::exists(path), "[model] there is no \"{}\": name the folder that training wrote, or a model's file",
        path.string());
  LoadedModel loaded;
  if (fs::is_directory(path))
    loaded = load_folder(path, options);
  else if (is_gguf(path))
    loaded = load_gguf(path, options);
  else if (path.extension() == ".bin")
    loaded = load_llama2c(path, options);
  else
    fail("[model] \"{}\" is no model: name a folder that holds config.json and the weights, a .gguf or a .bin file",
         path.string());
  if (loaded.tokenizers.source) check_tokenizer(*loaded.tokenizers.source, loaded.config(), "source");
  if (loaded.tokenizers.target) check_tokenizer(*loaded.tokenizers.target, loaded.config(), "target");
  pack_where_it_pays(*loaded.model);
  return loaded;
}

Tokenizers open_tokenizers(const fs::path& path) {
  check(fs::exists(path), "[tokenizer] there is no \"{}\": name a model, or a file of its vocabulary", path.string());
  if (fs::is_directory(path)) return load_tokenizers(path);
  if (is_gguf(path)) return gguf_tokenizers(GgufFile(path));
  if (path.extension() != ".bin") return load_tokenizer_file(path);
  return llama2c_tokenizers(tokens_of_llama2c(path));
}

}  // namespace limpid
