#include "inference/texts.h"

#include <algorithm>

#include "base/error.h"

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

Completion complete(const LoadedModel& loaded, std::string_view prompt, const CompletionOptions& options,
                    const std::function<bool(std::string_view)>& on_text) {
  CompletionRequest request{.ids = input_ids(loaded, prompt), .options = options};
  if (on_text) request.listener = [&](const CompletionPart& part) { return on_text(part.text); };
  return complete(*loaded.model, *loaded.tokenizers.target, std::span(&request, 1), {}).front();
}

std::vector<std::string> translate(const LoadedModel& loaded, std::span<const std::string> texts,
                                   GenerateOptions options) {
  options.rules = loaded.generation.rules;
  options.n_best = 1;
  std::vector<std::string> translations;
  for (const auto& hypotheses : translate(*loaded.model, inputs(loaded, texts), options))
    translations.push_back(loaded.tokenizers.target->decode(hypotheses.front().ids));
  return translations;
}

std::vector<std::vector<real>> embed(const LoadedModel& loaded, std::span<const std::string> texts,
                                     const EmbeddingOptions& options) {
  return embed(*loaded.model, inputs(loaded, texts), options);
}

std::vector<TextScore> score(const LoadedModel& loaded, std::span<const std::string> texts,
                             const TextScoreOptions& options) {
  return score_texts(*loaded.model, inputs(loaded, texts), options);
}

std::vector<TextScore> score(const LoadedModel& loaded, std::span<const std::string> sources,
                             std::span<const std::string> targets, const TextScoreOptions& options) {
  const auto ids = all_ids(targets, [&](const std::string& text) { return target_ids(loaded, text); });
  return score_pairs(*loaded.model, inputs(loaded, sources), ids, options);
}

}  // namespace limpid
