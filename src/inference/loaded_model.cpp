#include "inference/loaded_model.h"

#include "base/as_errors.h"
#include "base/paths.h"
#include "formats/gguf_model.h"
#include "formats/gguf_tokenizer.h"
#include "formats/llama2c.h"
#include "inference/gguf_pooling.h"
#include "inference/model_text.h"
#include "kernels/row_gemm.h"
#include "text/id_tokenizer.h"
#include "text/tokenizer_training.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

void check_folder(const fs::path& folder) {
  if (!path_exists(folder / "config.json"))
    fail(ErrorKind::not_found, "[model] \"{}\" has no config.json: name the folder that training wrote",
         folder.string());
}

// Translators must agree about the end of a text; published language models name several and need not.
void check_tokenizer(const Tokenizer& tokenizer, const Config& config, const char* side) {
  const int32_t end = tokenizer.special().end;
  check(!config.has_source() || !config.eos_token || end < 0 || *config.eos_token == end,
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

// Vocabularies are often filled up to a round number, and the ids beyond the tokenizer's are never used. Where more are
// missing than that explains, the files may not belong together, though nothing says so for certain. A tokenizer may
// also have tokens that the model was never given vectors for, such as a mask or a picture's.
void note_size(const Tokenizer& tokenizer, Config& config, const char* side) {
  const int64_t missing = config.vocab - tokenizer.size();
  if (missing < 0)
    config.notes.push_back(fmt::format(
        "the {} tokenizer has {} tokens, more than the {} of the model's vocabulary: texts with one of those are "
        "refused; if that is most texts, the files do not belong together",
        side, tokenizer.size(), config.vocab));
  if (missing <= std::max<int64_t>(1024, config.vocab / 50) && 2 * missing <= config.vocab) return;
  config.notes.push_back(fmt::format(
      "the {} tokenizer has {} tokens, fewer than the {} of the model's vocabulary: do the files belong together?",
      side, tokenizer.size(), config.vocab));
}

void check_tokenizers(const Tokenizers& tokenizers, Config& config) {
  const auto check_side = [&](const Tokenizer& tokenizer, const char* side) {
    check_tokenizer(tokenizer, config, side);
    note_size(tokenizer, config, side);
  };
  if (tokenizers.source) check_side(*tokenizers.source, "source");
  if (tokenizers.target && tokenizers.target != tokenizers.source) check_side(*tokenizers.target, "target");
}

// Translators and encoders read many texts at a time, which is faster with weights in another order, made when first
// used. A language model mostly writes one text: it begins at once, with its weights as they are stored.
std::shared_ptr<const Model> ready(std::shared_ptr<Model> model) {
  if (!model->config().continues_text())
    model->visit_parameters([](Weight& weight) {
      if (weight.is_matrix() && (weight.type == kRealType || kernels::widens(weight.type))) weight.pack();
    });
  return model;
}

LoadedModel load_folder(const fs::path& whole, const LoadOptions& options) {
  const fs::path folder = transformer_folder(whole);
  check_folder(folder);
  Config config = read_model_config(folder);
  LoadedModel loaded;
  if (has_tokenizers(folder)) {
    loaded.tokenizers = load_tokenizers(folder);
    // Limpid trains by the custom of the family, whatever template stands in the tokenizer.json of a run.
    const bool ours = config.recurrent() || path_exists(folder / "recipe.toml");
    if (ours && loaded.tokenizers.after.empty()) loaded.tokenizers.stated = false;
  } else if (options.need_tokenizers) {
    config.notes.emplace_back("the folder has no vocabulary: texts are token ids, such as \"17 4 523\"");
    loaded.tokenizers = id_tokenizers(config);
  }
  check_tokenizers(loaded.tokenizers, config);
  std::shared_ptr<Model> model = make_model(config);
  model->keep(std::make_shared<MappedWeights>(folder, *model));
  loaded.model = ready(model);
  loaded.generation = read_generation_config(folder, loaded.config().vocab);
  loaded.sentence = read_sentence_settings(whole);
  state_special_tokens(loaded);
  return loaded;
}

LoadedModel load_gguf(const fs::path& path, const LoadOptions& options) {
  const auto file = std::make_shared<GgufFile>(path);
  const auto holder = std::make_shared<WeightHolder>();
  LoadedModel loaded;
  Config config = gguf_config(*file);
  if (has_tokenizer(*file))
    loaded.tokenizers = gguf_tokenizers(*file);
  else if (options.need_tokenizers)
    loaded.tokenizers = id_tokenizers(config);
  check_tokenizers(loaded.tokenizers, config);
  std::shared_ptr<Model> model = make_model(config);
  attach_gguf(*file, *model, *holder);
  holder->keep(file);
  model->keep(holder);
  loaded.model = ready(model);
  const std::string pooling = file->text("general.architecture").value_or("") + ".pooling_type";
  loaded.sentence.embedding.pooling = pooling_of_gguf(file->integer(pooling).value_or(0));
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
  Config config = file->config();
  const fs::path tokens = llama2c_tokens_beside(path, config.vocab);
  check(!tokens.empty() || !options.need_tokenizers,
        "[model] {}: lacks its tokens: put tokenizer.bin or tok{}.bin beside it", path, config.vocab);
  if (!tokens.empty()) loaded.tokenizers = llama2c_tokenizers(tokens);
  check_tokenizers(loaded.tokenizers, config);
  std::shared_ptr<Model> model = make_model(config);
  file->attach(*model, *holder);
  holder->keep(file);
  model->keep(holder);
  loaded.model = ready(model);
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
  check(!tokens.empty(), "[tokenizer] {}: lacks its tokens: put tokenizer.bin or tok{}.bin beside it", path, vocab);
  return tokens;
}

const Tokenizer& present(const std::shared_ptr<const Tokenizer>& tokenizer) {
  check(tokenizer != nullptr,
        "[model] it was loaded without tokenizers and cannot read texts: load it with them, or "
        "give ids");
  return *tokenizer;
}

}  // namespace

const Tokenizer& LoadedModel::reader() const { return present(tokenizers.source); }
const Tokenizer& LoadedModel::writer() const { return present(tokenizers.target); }

LoadedModel load_model(const fs::path& path, const LoadOptions& options) {
  if (!path_exists(path))
    fail(ErrorKind::not_found, "[model] there is no \"{}\": name the folder that training wrote, or a model's file",
         path.string());
  if (is_folder(path)) return as_errors([&] { return load_folder(path, options); });
  if (is_gguf(path)) return as_errors([&] { return load_gguf(path, options); });
  if (path.extension() == ".bin") return as_errors([&] { return load_llama2c(path, options); });
  fail("[model] \"{}\" is no model: name a folder that holds config.json and the weights, a .gguf or a .bin file",
       path.string());
}

Tokenizers open_tokenizers(const fs::path& path) {
  if (!path_exists(path))
    fail(ErrorKind::not_found, "[tokenizer] there is no \"{}\": name a model, or a file of its vocabulary",
         path.string());
  return as_errors([&]() -> Tokenizers {
    if (is_folder(path)) return load_tokenizers(transformer_folder(path));
    if (is_gguf(path)) return gguf_tokenizers(GgufFile(path));
    if (path.extension() != ".bin") return load_tokenizer_file(path);
    return llama2c_tokenizers(tokens_of_llama2c(path));
  });
}

}  // namespace limpid
