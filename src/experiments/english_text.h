#pragma once
// The text and the language model that several experiments share: English sentences of the project's own grammar, in
// lower case, words apart from commas and full stops, one text per line.

#include "experiments/lab.h"
#include "inspect/session.h"

namespace limpid {

struct EnglishText {
  int64_t train = 20000, valid = 500;  // lines
  int64_t fewest = 1, most = 1;        // sentences per line
};
LabCorpus english_corpus(const EnglishText& text);
// "The teacher reads three books." as "the teacher reads three books .".
std::string plain_words(const std::string& sentence);

// Two layers of width 48, words as tokens. The texts are those of the size; keys are overridden.
LabModel train_english(Lab& lab, const std::vector<std::string>& overrides = {});
EnglishText english_text(const Lab& lab);
extern const char* const kEnglishRecipe;

// Lines of a corpus as the model reads them, with the token that ends a text.
std::vector<std::vector<int32_t>> read_ids(const Session& session, const std::filesystem::path& file, int64_t most);

}  // namespace limpid
