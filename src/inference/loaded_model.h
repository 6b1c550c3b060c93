#pragma once
// LoadedModel: a model, ready to use: its config, the weights (mapped, not copied where that can be) and the
// tokenizers.

#include <filesystem>
#include <memory>

#include "formats/model_folder.h"
#include "inference/generation_config.h"
#include "inference/sentence_settings.h"
#include "models/model.h"
#include "text/tokenizer.h"

namespace limpid {

struct LoadedModel {
  std::shared_ptr<const Model> model;  // keeps the files open that its weights lie in
  GenerationConfig generation;         // how the files want the model to write
  // None where the files have none and that was allowed; of a folder without any, texts are token ids (IdTokenizer).
  Tokenizers tokenizers;
  SentenceSettings sentence;  // how its files want the vectors of texts made

  const Config& config() const { return model->config(); }  // config().notes: what was ignored, for people to read
  // Of the side that reads and of the side that writes; an Error where the model was loaded without tokenizers.
  const Tokenizer& reader() const;
  const Tokenizer& writer() const;
};

struct LoadOptions {
  bool need_tokenizers = true;  // false: a model without them is opened too
};

// Opens a folder of ours or of Hugging Face, a GGUF file of the Llama or GPT-2 family, or a model of llama2.c (.bin)
// with its tokens beside it. Throws where a file is missing or the parts do not fit each other, saying which.
LoadedModel load_model(const std::filesystem::path& path, const LoadOptions& options = {});

// The tokenizers alone: of all that load_model opens, and of a file that holds just a vocabulary: tokenizer.json,
// tokenizer.model and other SentencePiece models, vocab.txt, vocab.json with merges.txt, tokens of llama2.c.
Tokenizers open_tokenizers(const std::filesystem::path& path);

}  // namespace limpid
