#pragma once
// Languages of served translators: which model translates what, and which language a text is in, as far as its script
// can tell.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/served_models.h"

namespace limpid {

struct LanguagePair {
  std::string source, target;  // "en", "ko"
};

// "en-ko". Throws for what is no pair.
LanguagePair parse_language_pair(const std::string& text);
// Of the model's id, where it ends in one ("opus-mt-en-ko").
std::optional<LanguagePair> language_pair_of(const std::string& id);

// A language's name in English; the code itself where it is not known.
std::string language_name(const std::string& code);

// Whether there is anything in it that tells a script.
bool has_letters(std::string_view text);

struct DetectedLanguage {
  std::string code;
  double confidence = 0;  // in per cent: the share of the text's letters that are of its script
};
// Which of these languages, by script alone: none where two of them share the text's script, or none has it.
std::optional<DetectedLanguage> detect_language(std::string_view text, const std::vector<std::string>& languages);

}  // namespace limpid
