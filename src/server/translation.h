#pragma once
// Translation of whole texts: lines and sentences are searched for on their own, as the model was trained, and joined
// again as they stood. In HTML what stands between tags is translated and tags stay.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/served_models.h"

namespace limpid {

struct TranslationCall {
  std::vector<std::string> texts;
  bool html = false;
  int64_t alternatives = 0;  // further translations of each text
  std::optional<Engine::Clock::time_point> deadline;
};

// By text: the best translation, then alternatives.
using Translations = std::vector<std::vector<std::string>>;

struct Translated {
  Translations texts;
  int64_t tokens_read = 0, tokens_written = 0;
};

// Hands all sentences to the model's engine and returns a number to cancel by; `done` or `failed` is called once, on
// the engine's thread (where there is nothing to translate, at once, and -1 is returned).
int64_t translate_texts(const ServedModel& model, const TranslationCall& call, std::function<void(Translated)> done,
                        std::function<void(const std::string& message, bool late)> failed);

}  // namespace limpid
