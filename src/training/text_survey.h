#pragma once
// TextSurvey: what text files hold, found in one pass before anything is decided: how much, how long, which script,
// what is repeated.

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "text/corpus.h"

namespace limpid {

// One side of pairs, or the text itself. Words and characters are counted on a sample of the lines.
struct SideSurvey {
  int64_t bytes = 0;
  int64_t characters = 0, words = 0;  // of the sample
  int64_t distinct_words = 0;         // of the sample
  int64_t single_words = 0;           // … that occur once
  int64_t distinct_characters = 0;
  int64_t distinct_lines = 0;  // of the sample; of labels few
  std::string script;          // of most letters: "Latin", "Hangul", "Han", …; empty: there are no letters
  int64_t median_characters = 0, most_characters = 0;  // of a line; most: 95 % of the lines have no more
};

struct TextSurvey {
  int64_t lines = 0;         // that are not empty
  int64_t duplicates = 0;    // lines equal to an earlier one
  int64_t sampled = 0;       // lines that words and lengths were counted on
  double ends_sentence = 0;  // share of the sampled lines that end as a sentence does
  std::array<SideSurvey, 2> sides;
};

using SurveyProgress = std::function<void(double done)>;

TextSurvey survey_text(const CorpusFiles& files, const SurveyProgress& progress = {});

}  // namespace limpid
