#include "inference/texts.h"

#include <algorithm>

#include "base/as_errors.h"

namespace limpid {
namespace {

template <class Read>
std::vector<std::vector<int32_t>> all_ids(std::span<const std::string> texts, const Read& read) {
  std::vector<std::vector<int32_t>> ids;
  ids.reserve(texts.size());
  for (const std::string& text : texts) ids.push_back(read(text));
  return ids;
}

std::vector<std::vector<int32_t>> inputs(const LoadedModel& loaded, std::span<const std::string> texts) {
  return all_ids(texts, [&](const std::string& text) { return input_ids(loaded, text); });
}

}  // namespace

Completion complete(const LoadedModel& loaded, std::string_view prompt, const RequestOptions& request,
                    const std::function<bool(std::string_view)>& on_text) {
  return as_errors([&] {
    CompletionRequest one{.ids = input_ids(loaded, prompt)};
    one.options = merged_completion(request, loaded.generation, std::ssize(one.ids), {.sampling = usual_sampling()});
    if (on_text) one.listener = [&](const CompletionPart& part) { return on_text(part.text); };
    return complete(*loaded.model, loaded.writer(), std::span(&one, 1), {}).front();
  });
}

std::vector<std::string> translate(const LoadedModel& loaded, std::span<const std::string> texts,
                                   const RequestOptions& request) {
  return as_errors([&] {
    const TextTranslator translator(loaded, merged_translation(request, loaded.generation, {}));
    Engine engine(*loaded.model, {});
    std::vector<TranslatedText> translated(texts.size());
    for (size_t i = 0; i < texts.size(); ++i)
      for (auto& task : translator.start(texts[i], translated[i])) engine.add(std::move(task));
    while (engine.step()) {
    }
    std::vector<std::string> translations;
    for (const TranslatedText& text : translated) translations.push_back(translator.text_of(text, 0));
    return translations;
  });
}

std::vector<std::vector<real>> embed(const LoadedModel& loaded, std::span<const std::string> texts) {
  return as_errors([&] { return embed(loaded, texts, loaded.sentence.embedding); });
}

std::vector<std::vector<real>> embed(const LoadedModel& loaded, std::span<const std::string> texts,
                                     const EmbeddingOptions& options) {
  return as_errors([&] {
    const std::string prompt = loaded.sentence.prompt("");
    const auto ids = all_ids(texts, [&](const std::string& text) { return sentence_ids(loaded, prompt + text); });
    EmbeddingOptions own = options;
    own.left_out = tokens_left_out(loaded, prompt);
    return embed(*loaded.model, ids, own);
  });
}

std::vector<TextScore> score(const LoadedModel& loaded, std::span<const std::string> texts,
                             const TextScoreOptions& options) {
  return as_errors([&] { return score_texts(*loaded.model, inputs(loaded, texts), options); });
}

std::vector<TextScore> score(const LoadedModel& loaded, std::span<const std::string> sources,
                             std::span<const std::string> targets, const TextScoreOptions& options) {
  return as_errors([&] {
    const auto ids = all_ids(targets, [&](const std::string& text) { return target_ids(loaded, text); });
    return score_pairs(*loaded.model, inputs(loaded, sources), ids, options);
  });
}

}  // namespace limpid
