#pragma once
// From text of one's own to a recipe: what the text is decides how it is read and cut into tokens (choose_data), how
// much of it there is and how fast this machine learns decide model, batch and schedule (choose_model). Every choice
// says why, and any key can be overridden as in other recipes.

#include <string>
#include <vector>

#include "training/dataset.h"
#include "training/step_timing.h"
#include "training/text_survey.h"

namespace limpid {

struct OwnText {
  enum class Kind { pairs, text, labels };
  Kind kind = Kind::pairs;
  std::vector<std::string> files, valid, test;  // pairs: two line-aligned files or one TSV; labels: a TSV
  std::string unit;                             // of text: "lines", "stream"; empty: as it looks
  bool characters = false;                      // of text: letter by letter
  std::string from;                             // a model folder to go on from; empty: from scratch
  double minutes = 10;
  bool minutes_given = true;           // false: nobody asked for so many, and stop.steps or stop.epochs may take longer
  int ranks = 1;                       // that will share the work
  std::vector<std::string> overrides;  // "key=value"
};

struct Decision {
  std::string what, choice, why;
};

struct ChosenRecipe {
  Recipe recipe;
  std::vector<Decision> decisions;
};

// The text as files of examples, to be surveyed.
CorpusFiles corpus_files(const OwnText& text);

// Data and tokenizer. The model is the smallest one yet.
ChosenRecipe choose_data(const OwnText& text, const TextSurvey& survey);

// Seconds and tokens of an update with this recipe, measured for about so many seconds.
using StepTimer = std::function<StepTiming(const Recipe& recipe, double seconds)>;

// The rest: model, batch, schedule, dropout, by the prepared data and the machine's speed.
ChosenRecipe choose_model(const ChosenRecipe& data, const OwnText& text, const Dataset& dataset,
                          const StepTimer& timer);

}  // namespace limpid
