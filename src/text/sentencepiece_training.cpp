#include "text/sentencepiece_training.h"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/error.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/vocabulary.h"

namespace limpid {
namespace {

class Lines final : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  size_t at_ = 0;
};

using Arguments = std::unordered_map<std::string, std::string>;

// SentencePiece has four special tokens of its own, to be put at any id; others are "control symbols", which take the
// ids left free, in their order.
void add_special(Arguments& arguments, const std::vector<std::string>& special) {
  struct Own {
    int32_t SpecialIds::*role;
    const char* name;
  };
  constexpr std::array owns = {Own{&SpecialIds::pad, "pad"}, Own{&SpecialIds::end, "eos"},
                               Own{&SpecialIds::unknown, "unk"}, Own{&SpecialIds::begin, "bos"}};
  const Vocabulary table(special, special, "[tokenizer] special");
  std::vector<bool> placed(special.size());
  for (const Own& own : owns) {
    const int32_t id = table.special().*own.role;
    arguments[std::string(own.name) + "_id"] = std::to_string(id);
    if (id < 0) continue;
    arguments[std::string(own.name) + "_piece"] = special[static_cast<size_t>(id)];
    placed[static_cast<size_t>(id)] = true;
  }
  std::string control;
  for (size_t id = 0; id < special.size(); ++id)
    if (!placed[id]) control += (control.empty() ? "" : ",") + special[id];
  if (!control.empty()) arguments["control_symbols"] = control;
}

// The library's messages read "file.cc(580) [condition] Words for people."
[[noreturn]] void fail_training(const TokenizerOptions& options, std::string_view message) {
  std::string_view words = message.substr(message.rfind("] ") + 1);
  words.remove_prefix(std::min(words.find_first_not_of(' '), words.size()));
  if (words.starts_with("Vocabulary size is smaller"))
    fail(
        "[tokenizer] a vocabulary of {} has no room for the special tokens, the bytes and the characters of the text "
        "({}): ask for a larger one, lower the coverage, or turn byte fallback off",
        options.vocab, words);
  fail("[tokenizer] SentencePiece cannot learn from this text ({}): give it more text, with letters in it",
       words.empty() ? message : words);
}

}  // namespace

std::string train_sentencepiece(const TokenizerOptions& options, const std::vector<std::string>& lines,
                                bool whole_text) {
  silence_sentencepiece();
  // The sums of unigram's training depend on how many threads share them, so their number is fixed.
  const int threads = options.kind == TokenizerKind::unigram ? 4 : std::clamp(options.threads, 1, 128);
  Arguments arguments = {
      {"model_type", options.kind == TokenizerKind::unigram ? "unigram" : "bpe"},
      {"vocab_size", std::to_string(options.vocab)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", fmt::format("{}", options.coverage)},
      {"byte_fallback", options.byte_fallback ? "true" : "false"},
      {"normalization_rule_name", std::string(whole_text ? "nfkc" : "nmt_nfkc") + (options.lowercase ? "_cf" : "")},
      {"remove_extra_whitespaces", whole_text ? "false" : "true"},
      {"max_sentence_length", "65536"},
      {"num_threads", std::to_string(threads)},
      {"minloglevel", "4"},
  };
  add_special(arguments, options.special);
  Lines iterator(lines);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(arguments, &iterator, &model);
  if (!status.ok()) fail_training(options, status.message());
  return model;
}

}  // namespace limpid
