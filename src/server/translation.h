#pragma once
// Translation of whole texts: lines and sentences are searched for on their own, as the model was trained, and joined
// again as they stood. Of HTML the texts are translated (server/html_text.h), one by one.

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
  struct Limits {
    int64_t prompt_tokens = 0;  // of one text; 0: no bound
    int64_t output_tokens = 0;  // of the translation of a sentence; 0: as the search has it
  } limits = {};
};

// By text: the best translation, then alternatives.
using Translations = std::vector<std::vector<std::string>>;

struct Translated {
  Translations texts;
  int64_t tokens_read = 0, tokens_written = 0;
};

// Throws HttpError 400 for texts that are too long. Hands all sentences to the model's engine and returns a number to
// cancel by; `done` or `failed` is called once, on the engine's thread (where there is nothing to translate, at once,
// and -1 is returned).
int64_t translate_texts(const ServedModel& model, const TranslationCall& call, std::function<void(Translated)> done,
                        std::function<void(const HttpError& error)> failed);

}  // namespace limpid
