#include "corpora/english_korean.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "corpora/grammar_words.h"

namespace limpid {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// A word without case and punctuation.
std::string bare(std::string word) {
  while (!word.empty() && std::string_view(".?,").find(word.back()) != std::string_view::npos) word.pop_back();
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return word;
}

TEST(EnglishKorean, IsAPureFunctionOfSeedIndexAndSplit) {
  const EnglishKorean one(7), same(7), other(8);
  int differing = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    const SentencePair pair = one.pair(i), again = same.pair(i);
    EXPECT_EQ(pair.english, again.english);
    EXPECT_EQ(pair.korean, again.korean);
    EXPECT_EQ(pair.alignment, again.alignment);
    differing += pair.english != other.pair(i).english;
  }
  EXPECT_GT(differing, 190);
}

TEST(EnglishKorean, HasOneKoreanSentenceForEachEnglishOne) {
  const EnglishKorean corpus(3);
  std::unordered_map<std::string, std::string> korean;
  int64_t words = 0, repeated = 0;
  constexpr int kPairs = 200000;
  for (uint64_t i = 0; i < kPairs; ++i) {
    SentencePair pair = corpus.pair(i);
    words += 1 + std::count(pair.english.begin(), pair.english.end(), ' ');
    const auto [place, added] = korean.emplace(pair.english, pair.korean);
    if (added) continue;
    ++repeated;
    ASSERT_EQ(place->second, pair.korean) << pair.english;
  }
  EXPECT_GT(repeated, 100);  // else nothing was compared
  const double mean = static_cast<double>(words) / kPairs;
  EXPECT_GT(mean, 6.5);
  EXPECT_LT(mean, 8.0);
}

TEST(EnglishKorean, IsLarge) {
  EXPECT_GE(english_korean_lemmas(), 300);
  EXPECT_GE(english_korean_plain_statements(), 1e7);
}

TEST(EnglishKorean, SplitsAreDisjoint) {
  const EnglishKorean corpus(1), elsewhere(99);
  std::unordered_set<std::string> train;
  for (uint64_t i = 0; i < 10000; ++i) {
    train.insert(corpus.pair(i).english);
    train.insert(elsewhere.pair(i).english);
  }
  for (Split split : {Split::valid, Split::test, Split::compositional})
    for (uint64_t i = 0; i < 500; ++i) {
      const SentencePair pair = corpus.pair(i, split);
      ASSERT_FALSE(train.contains(pair.english)) << pair.english;
      if (split != Split::compositional) {
        ASSERT_EQ(split_of(pair.english), split);
      }
      ASSERT_EQ(pair.withheld != 0, split == Split::compositional);
    }
  int parts[3] = {};
  for (uint64_t i = 0; i < 20000; ++i) ++parts[static_cast<int>(split_of("sentence " + std::to_string(i)))];
  EXPECT_NEAR(parts[1], 1000, 150);
  EXPECT_NEAR(parts[2], 1000, 150);
}

// By the text alone, without the grammar's own marks.
TEST(EnglishKorean, TrainingNeverShowsWhatIsWithheld) {
  const std::vector<std::string> negated = withheld_words(0), heads = withheld_words(1), numbers = withheld_words(2),
                                 adjectives = withheld_words(3), can = withheld_words(4);
  for (const auto* list : {&negated, &heads, &numbers, &adjectives, &can}) ASSERT_GE(list->size(), 3u);
  std::set<std::string> forbidden;
  for (const std::string& verb : negated) forbidden.insert("did not " + verb);
  for (const std::string& verb : can) forbidden.insert("cannot " + verb);
  for (const grammar::Noun& noun : grammar::words().nouns) {
    if (std::find(heads.begin(), heads.end(), noun.english) == heads.end()) continue;
    for (const char* pronoun : {" who", " whom", " which"}) {
      forbidden.insert(noun.english + pronoun);
      forbidden.insert(noun.plural + pronoun);
    }
  }
  for (const std::string& adjective : adjectives)
    for (const char* be : {"was not ", "were not "}) forbidden.insert(be + adjective);
  const auto shows = [&](const SentencePair& pair) {
    const auto words = words_of(pair.english);
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      const std::string two = bare(words[i]) + " " + bare(words[i + 1]);
      if (forbidden.contains(two)) return true;
      if (i + 2 < words.size() && forbidden.contains(two + " " + bare(words[i + 2]))) return true;
    }
    return false;
  };
  const EnglishKorean corpus(5);
  for (uint64_t i = 0; i < 20000; ++i) ASSERT_FALSE(shows(corpus.pair(i))) << corpus.pair(i).english;
  int shown = 0, of_kind[kWithheldKinds] = {};
  for (uint64_t i = 0; i < 1000; ++i) {
    const SentencePair pair = corpus.pair(i, Split::compositional);
    shown += shows(pair);
    for (int kind = 0; kind < kWithheldKinds; ++kind) of_kind[kind] += (pair.withheld >> kind) & 1;
  }
  EXPECT_GT(shown, 400);  // the rest are numbers with counters and "can" in other shapes
  for (int count : of_kind) EXPECT_GT(count, 25);
}

TEST(EnglishKorean, TrainingKnowsEveryWordOfTheOtherSplits) {
  const EnglishKorean corpus(2);
  std::unordered_set<std::string> english, korean;
  const auto korean_bare = [](std::string word) {
    if (word.ends_with('.') || word.ends_with('?')) word.pop_back();
    return word;
  };
  for (uint64_t i = 0; i < 60000; ++i) {
    const SentencePair pair = corpus.pair(i);
    for (const std::string& word : words_of(pair.english)) english.insert(bare(word));
    for (const std::string& word : words_of(pair.korean)) korean.insert(korean_bare(word));
  }
  int64_t unknown = 0, all = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    const SentencePair pair = corpus.pair(i, Split::compositional);
    for (const std::string& word : words_of(pair.english)) ASSERT_TRUE(english.contains(bare(word))) << word;
    for (const std::string& word : words_of(pair.korean)) ++all, unknown += !korean.contains(korean_bare(word));
  }
  EXPECT_LT(static_cast<double>(unknown) / static_cast<double>(all), 0.01);  // some rare word with a rare particle
}

TEST(EnglishKorean, AlignsEveryKoreanWordAndEveryEnglishWordThatMeansSomething) {
  const EnglishKorean corpus(4);
  const std::set<std::string> silent = {"the", "a", "an", "there"};
  for (Split split : {Split::train, Split::compositional})
    for (uint64_t i = 0; i < 3000; ++i) {
      const SentencePair pair = corpus.pair(i, split);
      const auto english = words_of(pair.english), korean = words_of(pair.korean);
      std::vector<bool> from(english.size()), to(korean.size());
      ASSERT_TRUE(std::is_sorted(pair.alignment.begin(), pair.alignment.end()));
      for (const auto& [a, b] : pair.alignment) {
        ASSERT_TRUE(a >= 0 && a < static_cast<int>(english.size()) && b >= 0 && b < static_cast<int>(korean.size()));
        from[a] = true;
        to[b] = true;
      }
      for (size_t w = 0; w < korean.size(); ++w) ASSERT_TRUE(to[w]) << pair.english << " | " << pair.korean << " " << w;
      for (size_t w = 0; w < english.size(); ++w)
        ASSERT_EQ(from[w], !silent.contains(bare(english[w]))) << pair.english << " | " << english[w];
    }
}

// Composed syllables, a space, a final mark: valid UTF-8 in NFC, nothing else.
TEST(EnglishKorean, WritesComposedHangul) {
  const EnglishKorean corpus(6);
  for (uint64_t i = 0; i < 5000; ++i) {
    const SentencePair pair = corpus.pair(i);
    const std::string& text = pair.korean;
    for (size_t at = 0; at < text.size();) {
      const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[at + k]); };
      if (byte(0) < 0x80) {
        ASSERT_TRUE(text[at] == ' ' || ((text[at] == '.' || text[at] == '?') && at + 1 == text.size())) << text;
        ++at;
        continue;
      }
      ASSERT_LE(at + 3, text.size());
      const int code = ((byte(0) & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F);
      ASSERT_TRUE((byte(0) & 0xF0) == 0xE0 && (byte(1) & 0xC0) == 0x80 && (byte(2) & 0xC0) == 0x80);
      ASSERT_TRUE(code >= 0xAC00 && code <= 0xD7A3) << text;
      at += 3;
    }
    ASSERT_EQ(text.back(), pair.english.back());
    for (const char c : pair.english) ASSERT_TRUE(c >= ' ' && c < 127);
    ASSERT_TRUE(pair.english.front() >= 'A' && pair.english.front() <= 'Z');
  }
}

TEST(EnglishKorean, NoEnglishNounMeansTwoThings) {
  std::set<std::string> seen;
  for (const grammar::Noun& noun : grammar::words().nouns) {
    EXPECT_TRUE(seen.insert(noun.english).second) << noun.english;
    if (noun.plural != noun.english) {
      EXPECT_TRUE(seen.insert(noun.plural).second) << noun.plural;
    }
  }
  for (const grammar::Verb& verb : grammar::words().verbs)
    for (const grammar::Verb& other : grammar::words().verbs) {
      if (&verb == &other || verb.base != other.base || verb.frame != other.frame) continue;
      EXPECT_EQ(verb.objects & other.objects, 0u) << verb.base;  // the object decides which one is meant
    }
}

}  // namespace
}  // namespace limpid
