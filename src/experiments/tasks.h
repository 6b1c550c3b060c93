#pragma once
// What experiments train: corpora of the project's own and recipes for tiny models of them. An experiment overrides
// keys of these recipes to make its variants ("model.limpid.scale_scores=false"), so that the models of several
// experiments that differ in nothing are one.

#include <string>

#include "experiments/lab.h"

namespace limpid {

// What the recipes of short runs end with: how they are trained, with one validation and one checkpoint, at the end.
struct ShortTraining {
  int64_t steps = 0;
  double learning_rate = 0;
  int64_t warmup = 0;
  std::string validation = {};  // further lines of [validation]
};
std::string to_toml(const ShortTraining& training);

// A world of facts for language models, two layers of width 64 (corpora/facts.h).
LabCorpus facts_corpus(const Lab& lab);
std::string facts_recipe(const Lab& lab);
// The model whose facts are looked for: width 96, trained until it knows nearly all of them.
LabModel train_facts(Lab& lab);

// Pairs of the English-Korean grammar, one sentence each (corpora/english_korean.h): train, valid.
LabCorpus sentences_corpus(const Lab& lab);
// An encoder-decoder of width 64, two layers each.
std::string translator_recipe(const Lab& lab);
int64_t translator_steps(const Lab& lab);
LabModel train_translator(Lab& lab, int64_t heads, const std::vector<std::string>& overrides = {});

}  // namespace limpid
