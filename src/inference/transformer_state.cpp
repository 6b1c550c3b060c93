#include "inference/transformer_state.h"

#include <algorithm>
#include <numeric>

namespace limpid {
namespace {

// A shorter beginning in common is read again: copying its keys and values would hardly be quicker.
constexpr int64_t kLeastShared = 8;
// Tokens of beginnings that are read in one pass: bounds what the pass needs.
constexpr int64_t kReadAtOnce = 2048;

Tokens one_each(std::span<const int32_t> ids) {
  return {{ids.begin(), ids.end()}, Sequences(std::vector<int64_t>(ids.size(), 1))};
}

void check_rows(size_t ids, int64_t rows) {
  check(static_cast<int64_t>(ids) == rows, "[decoder] {} tokens for {} rows: a step takes one token a row", ids, rows);
}

// Of one layer: a key and a value of every head.
int64_t bytes_a_token(const Config& config) {
  return 2 * config.decoder.kv_heads * config.head_size * static_cast<int64_t>(sizeof(real));
}

// Rows of a layer that one sequence takes at most: while its block grows, the old one stands beside the new one.
int64_t self_bytes(const Config& config, const DecoderState::Need& need) {
  return (need.rows * config.decoder.layers + 1) * need.tokens * bytes_a_token(config);
}

int64_t limit_of(std::span<const int64_t> limits, size_t i) { return limits.empty() ? 0 : limits[i]; }

}  // namespace

Seq2SeqState::Seq2SeqState(const Seq2Seq& model) : model_(model) {
  check(model.config().decoder_start_token.has_value(),
        "[decoder] the config does not say which token a text starts with: add \"decoder_start_token_id\"");
}

std::vector<int32_t> Seq2SeqState::add(std::span<const std::vector<int32_t>> texts, std::span<const int64_t> limits) {
  if (texts.empty()) return {};
  for (const auto& text : texts)
    check(!text.empty(), "[decoder] a source without tokens: it ends at least with the end token");
  const Tokens source = Tokens::of({texts.begin(), texts.end()});
  Run run({.arena = arena_, .probe = probe_});
  const Tensor memory = model_.encode(run, source);
  for (int64_t i = 0; i < source.sequences.count(); ++i) {
    unseen_.push_back(memory.slice(source.sequences.begin(i), source.sequences.length(i)));
    cache_.add(1, limit_of(limits, static_cast<size_t>(i)));
  }
  some_unseen_ = true;
  return std::vector<int32_t>(texts.size(), static_cast<int32_t>(*model_.config().decoder_start_token));
}

Tensor Seq2SeqState::read(std::span<const int32_t> ids) {
  check_rows(ids.size(), rows());
  Run run({.arena = arena_, .probe = probe_, .cache = &cache_});
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
  return model_.decode(run, one_each(ids), memory, Sequences(lengths));
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

int64_t Seq2SeqState::unseen_bytes() const {
  int64_t numbers = 0;
  for (const Tensor& tensor : unseen_) numbers += tensor.rows() * tensor.cols();
  return numbers * static_cast<int64_t>(sizeof(real));
}

// Of the source: the encoder's output, then its keys and values in every layer, which all rows share.
int64_t Seq2SeqState::bytes_for(const Need& need) const {
  const Config& config = model_.config();
  const int64_t memory = need.text * config.width * static_cast<int64_t>(sizeof(real));
  const int64_t cross = std::max(need.text, KeyValueCache::kFirstRows) * config.decoder.layers * bytes_a_token(config);
  return memory + cross + self_bytes(config, need);
}

Tensor LanguageModelState::read_tokens(const Tokens& tokens) {
  Run run({.arena = arena_, .probe = probe_, .cache = &cache_});
  Batch batch;
  batch.input = tokens;
  batch.labels.assign(tokens.ids.size(), 0);
  return model_.forward(run, batch);
}

// What the last rows are to read, in passes of bounded size. Rows before them, and those that have read all, read a
// sequence of length 0 meanwhile.
void LanguageModelState::read_beginnings(std::span<const std::vector<int32_t>> beginnings) {
  const size_t first = read_.size() - beginnings.size();
  for (;;) {
    std::vector<std::vector<int32_t>> parts(read_.size());
    int64_t room = kReadAtOnce;
    for (size_t i = 0; i < beginnings.size() && room > 0; ++i) {
      auto& done = read_[first + i];
      const auto count = std::min<int64_t>(room, static_cast<int64_t>(beginnings[i].size() - done.size()));
      const auto begin = beginnings[i].begin() + static_cast<ptrdiff_t>(done.size());
      parts[first + i].assign(begin, begin + count);
      done.insert(done.end(), begin, begin + count);
      room -= count;
    }
    if (room == kReadAtOnce) return;
    read_tokens(Tokens::of(parts));
  }
}

// A row that has as much of the beginning as some text that runs or is remembered; returns how much that is.
int64_t LanguageModelState::add_row(std::span<const int32_t> beginning, int64_t limit) {
  PrefixStore::Found found = store_.find(beginning);
  KeyValueCache::Saved running;
  for (size_t row = 0; row < read_.size(); ++row)
    if (const int64_t tokens = common_beginning(read_[row], beginning); tokens > found.tokens) {
      running = cache_.save(static_cast<int64_t>(row));
      found = {&running, tokens};
    }
  if (found.tokens < kLeastShared) found.tokens = 0;
  if (found.tokens > 0)
    cache_.add(*found.saved, found.tokens, limit);
  else
    cache_.add(1, limit);
  read_.emplace_back(beginning.begin(), beginning.begin() + found.tokens);
  return found.tokens;
}

// All tokens but the last go into the cache; the last one is the first step's. Texts that share their beginning with a
// text before them in the same call are read after it.
std::vector<int32_t> LanguageModelState::add(std::span<const std::vector<int32_t>> texts,
                                             std::span<const int64_t> limits) {
  std::vector<std::vector<int32_t>> beginnings;
  std::vector<int32_t> last;
  for (const auto& text : texts) {
    check(!text.empty(), "[decoder] a text without tokens: begin with the token that starts a text");
    beginnings.emplace_back(text.begin(), text.end() - 1);
    last.push_back(text.back());
  }
  const int64_t before = rows();
  std::vector<int32_t> order(static_cast<size_t>(before) + texts.size());  // by row, where it was put
  std::iota(order.begin(), order.begin() + before, 0);
  std::vector<size_t> waiting(texts.size());
  std::iota(waiting.begin(), waiting.end(), size_t{0});
  while (!waiting.empty()) {
    std::vector<size_t> later;
    std::vector<std::vector<int32_t>> now;
    for (const size_t i : waiting) {
      const auto shares = [&](const auto& other) { return common_beginning(other, beginnings[i]) >= kLeastShared; };
      if (std::any_of(now.begin(), now.end(), shares)) {
        later.push_back(i);
        continue;
      }
      order[static_cast<size_t>(before) + i] = static_cast<int32_t>(rows());
      reused_ += add_row(beginnings[i], limit_of(limits, i));
      now.push_back(beginnings[i]);
    }
    read_beginnings(now);
    // One round suffices for texts that then find all of it; the rest of a longer common beginning is read again.
    waiting = std::move(later);
  }
  if (!std::is_sorted(order.begin(), order.end())) keep(order);
  return last;
}

Tensor LanguageModelState::read(std::span<const int32_t> ids) {
  check_rows(ids.size(), rows());
  Tensor x = read_tokens(one_each(ids));
  for (size_t i = 0; i < ids.size(); ++i) read_[i].push_back(ids[i]);
  return x;
}

void LanguageModelState::keep(std::span<const int32_t> rows) {
  std::vector<std::vector<int32_t>> kept;
  kept.reserve(rows.size());
  for (const int32_t row : rows) kept.push_back(read_.at(row));
  read_ = std::move(kept);
  cache_.keep(rows);
}

int64_t LanguageModelState::bytes_for(const Need& need) const { return self_bytes(model_.config(), need); }

void LanguageModelState::remember(int64_t row) {
  if (static_cast<int64_t>(read_.at(row).size()) >= kLeastShared) store_.insert(read_[row], cache_.save(row));
}

}  // namespace limpid
