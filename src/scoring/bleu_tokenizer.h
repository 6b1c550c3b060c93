#pragma once
// How BLEU cuts text into words. The score means nothing without it: the same translations differ by several points.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace limpid {

enum class BleuTokenizer {
  t13a,       // of NIST's mteval-v13a, the usual one for languages written with Latin letters
  intl,       // of mteval-v14 with --international-tokenization: by Unicode's punctuation and symbols
  character,  // every character is a word; for languages that spaces divide badly, Korean among them
  none,       // text that comes divided by spaces, as multi-bleu and fairseq score it
};

std::string_view name(BleuTokenizer tokenizer);  // as sacreBLEU's signature says it: 13a, intl, char, none
std::optional<BleuTokenizer> find_bleu_tokenizer(std::string_view wanted);

std::vector<std::u32string> bleu_words(std::u32string_view line, BleuTokenizer tokenizer);

}  // namespace limpid
