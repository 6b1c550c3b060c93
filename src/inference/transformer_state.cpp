#include "inference/transformer_state.h"

namespace limpid {
namespace {

Tokens one_each(std::span<const int32_t> ids) {
  return {{ids.begin(), ids.end()}, Sequences(std::vector<int64_t>(ids.size(), 1))};
}

void check_rows(size_t ids, int64_t rows) {
  check(static_cast<int64_t>(ids) == rows, "[decoder] {} tokens for {} rows: a step takes one token a row", ids, rows);
}

}  // namespace

Seq2SeqState::Seq2SeqState(const Seq2Seq& model) : model_(model) {
  check(model.config().decoder_start_token.has_value(),
        "[decoder] the config does not say which token a text starts with: add \"decoder_start_token_id\"");
}

std::vector<int32_t> Seq2SeqState::add(std::span<const std::vector<int32_t>> texts) {
  if (texts.empty()) return {};
  for (const auto& text : texts)
    check(!text.empty(), "[decoder] a source without tokens: it ends at least with the end token");
  const Tokens source = Tokens::of({texts.begin(), texts.end()});
  Run run({.arena = arena_});
  const Tensor memory = model_.encode(run, source);
  for (int64_t i = 0; i < source.sequences.count(); ++i)
    unseen_.push_back(memory.slice(source.sequences.begin(i), source.sequences.length(i)));
  some_unseen_ = true;
  cache_.add(source.sequences.count());
  return std::vector<int32_t>(texts.size(), static_cast<int32_t>(*model_.config().decoder_start_token));
}

Tensor Seq2SeqState::step(std::span<const int32_t> ids) {
  check_rows(ids.size(), rows());
  Run run({.arena = arena_, .cache = &cache_});
  Tensor memory;
  std::vector<int64_t> lengths;
  if (some_unseen_) {
    std::vector<Tensor> parts;
    for (const Tensor& unseen : unseen_) {
      lengths.push_back(unseen.rows());
      if (!unseen.empty()) parts.push_back(unseen);
    }
    memory = concatenate_rows(run, parts);
    unseen_.assign(ids.size(), {});
    some_unseen_ = false;
  }
  const Tokens input = one_each(ids);
  const Tensor x = model_.decode(run, input, memory, Sequences(lengths));
  return model_.output().logits(run, x, input.sequences);
}

void Seq2SeqState::keep(std::span<const int32_t> rows) {
  std::vector<Tensor> unseen(rows.size());
  if (some_unseen_)
    for (size_t i = 0; i < rows.size(); ++i) unseen[i] = unseen_.at(rows[i]);
  some_unseen_ = false;
  for (const Tensor& tensor : unseen) some_unseen_ = some_unseen_ || !tensor.empty();
  unseen_ = std::move(unseen);
  cache_.keep(rows);
}

Tensor LanguageModelState::read(const Tokens& tokens) {
  Run run({.arena = arena_, .cache = &cache_});
  Batch batch;
  batch.input = tokens;
  batch.labels.assign(tokens.ids.size(), 0);
  return model_.forward(run, batch);
}

// All tokens but the last go into the cache; the last one is the first step's. Rows that were there before read nothing
// meanwhile: a sequence of length 0.
std::vector<int32_t> LanguageModelState::add(std::span<const std::vector<int32_t>> texts) {
  std::vector<std::vector<int32_t>> beginnings(rows());
  std::vector<int32_t> last;
  for (const auto& text : texts) {
    check(!text.empty(), "[decoder] a text without tokens: begin with the token that starts a text");
    beginnings.emplace_back(text.begin(), text.end() - 1);
    last.push_back(text.back());
  }
  cache_.add(static_cast<int64_t>(texts.size()));
  const Tokens tokens = Tokens::of(beginnings);
  if (!tokens.ids.empty()) read(tokens);
  return last;
}

Tensor LanguageModelState::step(std::span<const int32_t> ids) {
  check_rows(ids.size(), rows());
  const Tokens tokens = one_each(ids);
  const Tensor x = read(tokens);
  Run run({.arena = arena_});
  return model_.output().logits(run, x, tokens.sequences);
}

}  // namespace limpid
