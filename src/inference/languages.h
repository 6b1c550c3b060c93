#pragma once
// Translators of many languages (M2M-100, NLLB, mBART) are told which by tokens: one before the source (of the first
// mBART behind it), and the one that a translation begins with.

#include <string>

#include "inference/loaded_model.h"

namespace limpid {

// The token of a language: "eng_Latn" and "en_XX" by their own name or by what stands before the line, "__en__" by
// "en". Throws where there is none or several would do.
int32_t language_token(const Tokenizer& tokenizer, const std::string& name);

// From now on the model reads and writes these; an empty name leaves what its files say.
void set_languages(LoadedModel& loaded, const std::string& source, const std::string& target);

}  // namespace limpid
