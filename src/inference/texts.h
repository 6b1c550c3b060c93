#pragma once
// What a program does with texts and a model, one function per use: continue, translate, embed, score. Each may be
// called from several threads at once on one model. inference/engine.h is there for who drives many texts at a time,
// and the functions on ids (complete, translate, embed, score_texts) for who has ids.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/complete.h"
#include "inference/embedding.h"
#include "inference/loaded_model.h"
#include "inference/model_text.h"
#include "inference/request_options.h"
#include "inference/score.h"
#include "inference/text_translator.h"

namespace limpid {

// Continues a prompt. `on_text` hears every piece of text as soon as it is written; false from it: enough. What the
// request leaves open is as the model's files say (generation_config.json), and else as `limpid complete` has it.
Completion complete(const LoadedModel& loaded, std::string_view prompt, const RequestOptions& request = {},
                    const std::function<bool(std::string_view)>& on_text = {});

// The best translation of each text, which may be longer than the model reads at once. What is left open, likewise.
std::vector<std::string> translate(const LoadedModel& loaded, std::span<const std::string> texts,
                                   const RequestOptions& request = {});

// One vector per text: made as the model's files say, or as the options say.
std::vector<std::vector<real>> embed(const LoadedModel& loaded, std::span<const std::string> texts);
std::vector<std::vector<real>> embed(const LoadedModel& loaded, std::span<const std::string> texts,
                                     const EmbeddingOptions& options);

// How likely a language model finds each text, token by token.
std::vector<TextScore> score(const LoadedModel& loaded, std::span<const std::string> texts,
                             const TextScoreOptions& options = {});
// How likely an encoder-decoder model finds each target, given its source.
std::vector<TextScore> score(const LoadedModel& loaded, std::span<const std::string> sources,
                             std::span<const std::string> targets, const TextScoreOptions& options = {});

}  // namespace limpid
