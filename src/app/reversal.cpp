#include "app/reversal.h"

#include <algorithm>

namespace limpid {
namespace {

constexpr int64_t kShortest = 3, kLongest = 9, kLetters = 26;

char letter(int32_t id) { return static_cast<char>('a' + id - kFirstLetter); }

}  // namespace

Config reversal_config() {
  return parse_config({{"model_type", "marian"},
                       {"vocab_size", kFirstLetter + kLetters},
                       {"d_model", 64},
                       {"encoder_layers", 2},
                       {"decoder_layers", 2},
                       {"encoder_attention_heads", 4},
                       {"decoder_attention_heads", 4},
                       {"encoder_ffn_dim", 128},
                       {"decoder_ffn_dim", 128},
                       {"activation_function", "relu"},
                       {"scale_embedding", true},
                       {"max_position_embeddings", 32},
                       {"dropout", 0.0},
                       {"pad_token_id", kPad},
                       {"eos_token_id", kEnd},
                       {"decoder_start_token_id", kPad}});
}

std::vector<std::string> random_words(Random& random, int64_t count) {
  std::vector<std::string> words(count);
  for (std::string& word : words) {
    word.resize(kShortest + random.below(kLongest - kShortest + 1));
    for (char& c : word) c = letter(kFirstLetter + static_cast<int32_t>(random.below(kLetters)));
  }
  return words;
}

std::vector<int32_t> ids_of(const std::string& word) {
  std::vector<int32_t> ids;
  for (char c : word) ids.push_back(kFirstLetter + c - 'a');
  ids.push_back(kEnd);
  return ids;
}

std::string reversed(const std::string& word) { return {word.rbegin(), word.rend()}; }

Batch reversal_batch(const std::vector<std::string>& words) {
  std::vector<std::vector<int32_t>> source, target;
  for (const std::string& word : words) {
    source.push_back(ids_of(word));
    target.push_back(ids_of(reversed(word)));
  }
  return Batch::pairs(source, target, kPad);
}

std::vector<std::string> write_backwards(const Seq2Seq& model, const std::vector<std::string>& words) {
  std::vector<std::vector<int32_t>> source;
  for (const std::string& word : words) source.push_back(ids_of(word));
  const Tokens tokens = Tokens::of(source);
  Run reading({});
  const Tensor memory = model.encode(reading, tokens);
  KeyValueCache cache(static_cast<int64_t>(words.size()));
  std::vector<std::string> written(words.size());
  std::vector<std::vector<int32_t>> next(words.size(), {kPad});
  std::vector<bool> ended(words.size(), false);
  for (int64_t step = 0; step <= kLongest && !std::all_of(ended.begin(), ended.end(), [](bool e) { return e; });
       ++step) {
    Run run({.cache = &cache});
    const Tokens input = Tokens::of(next);
    const Tensor x = model.decode(run, input, memory, tokens.sequences);
    const Tensor logits = model.output().logits(run, x, input.sequences);
    for (size_t i = 0; i < words.size(); ++i) {
      const real* row = logits.values().row(static_cast<int64_t>(i));
      const auto best = static_cast<int32_t>(std::max_element(row, row + logits.cols()) - row);
      ended[i] = ended[i] || best < kFirstLetter;
      if (!ended[i]) written[i].push_back(letter(best));
      next[i] = {best};
    }
  }
  return written;
}

std::vector<std::vector<real>> cross_attention(const Seq2Seq& model, const std::string& word, int64_t head) {
  std::vector<std::vector<real>> rows;
  FunctionProbe probe;
  probe.on("decoder.1.cross_attn.pattern", [&](const Tap& tap) {
    const ConstMatrix pattern = tap.pairs(0, head);
    for (int64_t i = 0; i < pattern.rows; ++i) rows.emplace_back(pattern.row(i), pattern.row(i) + pattern.cols);
  });
  Run run({.probe = &probe});
  model.forward(run, reversal_batch({word}));
  return rows;
}

}  // namespace limpid
