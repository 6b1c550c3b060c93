#include "experiments/length_texts.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "corpora/english_korean.h"
#include "text/line_reader.h"
#include "text/utf8.h"
#include "text/word_tokenizer.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPool = 100;  // sentences that texts are joined from

int64_t words(const std::string& text) { return static_cast<int64_t>(split_words(text).size()); }

const std::vector<SentencePair>& pool() {
  static const std::vector<SentencePair> sentences = [] {
    std::vector<SentencePair> chosen;
    const EnglishKorean corpus;
    for (uint64_t i = 0; static_cast<int64_t>(chosen.size()) < kPool; ++i) {
      SentencePair pair = corpus.pair(i);
      if (words(pair.english) >= 5 && words(pair.english) <= 7) chosen.push_back(std::move(pair));
    }
    return chosen;
  }();
  return sentences;
}

struct JoinedText {
  std::string source, target;
  int64_t sentences = 0, first = 0;  // how many, and which of the pool begins it
  // New texts of one sentence are of one half of the pool, of which no text of the training consists alone.
  bool held_out() const { return sentences == 1 && first % 2 == 0; }
};

// Sentences of the pool joined until the text has as many words as wanted.
JoinedText joined(uint64_t key, int64_t wanted) {
  Random random(key);
  JoinedText text;
  for (int64_t count = 0;;) {
    const int64_t place = random.below(kPool);
    const SentencePair& pair = pool()[place];
    const int64_t more = words(pair.english);
    if (count > 0 && count + more > wanted) return text;
    if (count == 0) text.first = place;
    text.source += (count > 0 ? " " : "") + pair.english;
    text.target += (count > 0 ? " " : "") + pair.korean;
    count += more;
    ++text.sentences;
  }
}

JoinedText drawn(uint64_t key, int64_t from, int64_t to) {
  return joined(key, from + static_cast<int64_t>(mix(key) % static_cast<uint64_t>(to - from)));
}

constexpr int64_t kShortest = 5, kLongest = 60;

TextPairs training_texts(int64_t lines, bool train) {
  TextPairs pairs;
  for (uint64_t i = 0; static_cast<int64_t>(pairs.sources.size()) < lines; ++i) {
    JoinedText text = drawn(random_key(11, i, train ? 1 : 2), kShortest, kLongest + 1);
    if (text.held_out()) continue;
    pairs.sources.push_back(std::move(text.source));
    pairs.references.push_back(std::move(text.target));
  }
  return pairs;
}

// Of so many words, each another one, and none that a model was trained on.
TextPairs new_texts(int64_t from, int64_t to, uint64_t key_of_group, int64_t most, const TextPairs& trained) {
  std::set<std::string> known(trained.sources.begin(), trained.sources.end());
  TextPairs pairs;
  for (uint64_t i = 0; static_cast<int64_t>(pairs.sources.size()) < most; ++i) {
    JoinedText text = drawn(random_key(11, i, key_of_group), from, to);
    if (words(text.source) < from || words(text.source) >= to || !known.insert(text.source).second) continue;
    pairs.sources.push_back(std::move(text.source));
    pairs.references.push_back(std::move(text.target));
  }
  return pairs;
}

void write_pairs(const fs::path& folder, const std::string& split, const TextPairs& pairs) {
  std::string sources, targets;
  for (const std::string& line : pairs.sources) sources += line + "\n";
  for (const std::string& line : pairs.references) targets += line + "\n";
  write_text(folder / (split + ".source"), sources);
  write_text(folder / (split + ".target"), targets);
}

// German captions and their English translations.
TextPairs captions(const fs::path& folder, const std::string& split) {
  TextPairs pairs;
  for (const bool source : {true, false}) {
    LineReader reader((folder / fmt::format("{}.{}.gz", split, source ? "de" : "en")).string());
    while (const auto line = reader.next()) (source ? pairs.sources : pairs.references).push_back(lower_case(*line));
  }
  check(pairs.sources.size() == pairs.references.size(), "[experiment] {}: {} has sides of different length", folder,
        split);
  return pairs;
}

}  // namespace

LengthTexts joined_texts(const Lab& lab) {
  const auto lines = lab.pick<int64_t>(20000, 8000, 200);
  const std::vector<int64_t> edges = {kShortest, 10, 20, 30, 40, 50, kLongest + 1};
  return {.corpus = {.key = fmt::format("joined sentences {} {}, half of them never alone", kPool, lines),
                     .write =
                         [lines](const fs::path& folder) {
                           write_pairs(folder, "train", training_texts(lines, true));
                           write_pairs(folder, "valid", training_texts(100, false));
                         }},
          .tokenizer = "kind = \"words\"\n",
          .vocabulary = 420,
          .words = 30,
          .edges = edges,
          .group = [edges, lines](size_t group, int64_t most) {
            return new_texts(edges[group], edges[group + 1], 3 + group, most, training_texts(lines, true));
          }};
}

LengthTexts multi30k_texts(const Lab& lab) {
  const fs::path data = lab.data();
  const std::vector<int64_t> edges = {1, 8, 10, 12, 15, 18, 100};
  return {.corpus = {.key = "multi30k de-en",
                     .write =
                         [data](const fs::path& folder) {
                           write_pairs(folder, "train", captions(data, "train"));
                           write_pairs(folder, "valid", captions(data, "val"));
                         }},
          .tokenizer = "kind = \"bpe\"\nvocab = 3000\n",
          .vocabulary = 3000,
          .tokens = BleuTokenizer::t13a,
          .words = 15,
          .edges = edges,
          .group = [edges, data](size_t group, int64_t most) {
            const TextPairs all = captions(data, "test_2016_flickr");
            TextPairs pairs;
            for (size_t i = 0; i < all.sources.size() && static_cast<int64_t>(pairs.sources.size()) < most; ++i) {
              const int64_t count = words(all.sources[i]);
              if (count < edges[group] || count >= edges[group + 1]) continue;
              pairs.sources.push_back(all.sources[i]);
              pairs.references.push_back(all.references[i]);
            }
            return pairs;
          }};
}

}  // namespace limpid
