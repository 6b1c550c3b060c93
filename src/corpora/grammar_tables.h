#pragma once
// The rows that the word lists are written in, and the lists as tables of words; grammar_words.cpp joins them.

#include <span>

#include "corpora/grammar_words.h"

namespace limpid::grammar {

struct NounRow {
  const char *english, *plural, *korean;  // plural empty: by rule
  Kinds kinds = 0;
  Counter counter = Counter::gae;
};

struct PlaceRow {
  const char *english, *korean, *preposition;
  Kinds kinds = 0;
  Counter counter = Counter::got;
};

std::span<const NounRow> person_rows();
std::span<const NounRow> animal_rows();
std::span<const NounRow> name_rows();

std::vector<Noun> make_nouns();
std::vector<Adjective> make_adjectives();
std::vector<Verb> make_verbs();

}  // namespace limpid::grammar
