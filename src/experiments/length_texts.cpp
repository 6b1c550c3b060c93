#include "experiments/length_texts.h"

#include <fmt/format.h>

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

// Sentences of the pool joined until the text has as many words as wanted.
std::pair<std::string, std::string> joined(uint64_t key, int64_t wanted) {
  Random random(key);
  std::pair<std::string, std::string> text;
  for (int64_t count = 0;;) {
    const SentencePair& pair = pool()[random.below(kPool)];
    const int64_t more = words(pair.english);
    if (count > 0 && count + more > wanted) return text;
    text.first += (count > 0 ? " " : "") + pair.english;
    text.second += (count > 0 ? " " : "") + pair.korean;
    count += more;
  }
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
  const std::vector<int64_t> edges = {5, 10, 20, 30, 40, 50, 61};
  return {.corpus = {.key = fmt::format("joined sentences {} {}", kPool, lines),
                     .write =
                         [lines](const fs::path& folder) {
                           for (const bool train : {true, false}) {
                             TextPairs pairs;
                             for (int64_t i = 0; i < (train ? lines : 100); ++i) {
                               const uint64_t key = random_key(11, static_cast<uint64_t>(i), train ? 1 : 2);
                               auto [source, target] = joined(key, 5 + static_cast<int64_t>(mix(key) % 56));
                               pairs.sources.push_back(std::move(source));
                               pairs.references.push_back(std::move(target));
                             }
                             write_pairs(folder, train ? "train" : "valid", pairs);
                           }
                         }},
          .tokenizer = "kind = \"words\"\n",
          .vocabulary = 420,
          .words = 30,
          .edges = edges,
          .group = [edges](size_t group, int64_t most) {
            TextPairs pairs;
            const int64_t from = edges[group], to = edges[group + 1];
            for (uint64_t i = 0; static_cast<int64_t>(pairs.sources.size()) < most; ++i) {
              const uint64_t key = random_key(11, i, 3 + group);
              auto [source, target] =
                  joined(key, from + static_cast<int64_t>(mix(key) % static_cast<uint64_t>(to - from)));
              if (words(source) < from || words(source) >= to) continue;
              pairs.sources.push_back(std::move(source));
              pairs.references.push_back(std::move(target));
            }
            return pairs;
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
