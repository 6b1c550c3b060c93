#include "experiments/english_text.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/random.h"
#include "corpora/english_korean.h"
#include "inference/model_text.h"
#include "text/line_reader.h"
#include "text/utf8.h"

namespace limpid {
namespace {

std::string lines_of(const EnglishText& text, Split split, int64_t count) {
  const EnglishKorean corpus;
  Random random(random_key(1, static_cast<uint64_t>(split), 31));
  std::string lines;
  uint64_t sentence = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t sentences = text.fewest + random.below(text.most - text.fewest + 1);
    for (int64_t s = 0; s < sentences; ++s)
      lines.append(s == 0 ? "" : " ").append(plain_words(corpus.pair(sentence++, split).english));
    lines += '\n';
  }
  return lines;
}

}  // namespace

const char* const kEnglishRecipe = R"(
description = "A language model of English sentences of the grammar"
[data]
train = ["train.txt"]
valid = ["valid.txt"]
[tokenizer]
kind = "words"
[model]
model_type = "gpt2"
n_layer = 2
n_head = 4
n_embd = 48
n_inner = 192
n_positions = 128
embd_pdrop = 0.0
attn_pdrop = 0.0
resid_pdrop = 0.0
activation_function = "relu"
[optimizer]
clip_norm = 1.0
label_smoothing = 0.0
[schedule]
kind = "linear"
learning_rate = 0.005
warmup = 50
[batch]
tokens = 512
[stop]
steps = 1000
[validation]
steps = 100000
show = 0
[checkpoint]
steps = 100000
keep = 1
)";

std::string plain_words(const std::string& sentence) {
  std::string words;
  for (char c : sentence) {
    if (c == '.' || c == ',' || c == '?') words += ' ';
    words += c;
  }
  return lower_case(words);  // so that a word is the same at the beginning of a sentence and within it
}

LabCorpus english_corpus(const EnglishText& text) {
  return {.key = fmt::format("english {} {} {} {}", text.train, text.valid, text.fewest, text.most),
          .write = [text](const std::filesystem::path& folder) {
            write_text(folder / "train.txt", lines_of(text, Split::train, text.train));
            write_text(folder / "valid.txt", lines_of(text, Split::valid, text.valid));
          }};
}

EnglishText english_text(const Lab& lab) {
  return {.train = lab.pick<int64_t>(20000, 10000, 2000), .valid = lab.pick<int64_t>(500, 200, 50)};
}

LabModel train_english(Lab& lab, const std::vector<std::string>& overrides) {
  std::vector<std::string> keys = {fmt::format("stop.steps={}", lab.pick(2000, 500, 100))};
  keys.insert(keys.end(), overrides.begin(), overrides.end());
  return lab.train(kEnglishRecipe, keys, english_corpus(english_text(lab)));
}

std::vector<std::vector<int32_t>> read_ids(const Session& session, const std::filesystem::path& file, int64_t most) {
  std::vector<std::vector<int32_t>> all;
  LineReader reader(file.string());
  while (const auto line = reader.next()) {
    if (static_cast<int64_t>(all.size()) == most) break;
    all.push_back(input_ids(session.loaded, *line));
    all.back().push_back(session.reader().special().end);
  }
  return all;
}

}  // namespace limpid
