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
  check(static_cast<int64_t>(ids) == rows, "[decoder] {} tokens for {} rows: a step takes one token per row", ids,
        rows);
}

// Of one layer: a key and a value of every head.
int64_t bytes_per_token(const Config& config) {
  return 2 * config.decoder.kv_heads * config.head_size * static_cast<int64_t>(sizeof(real));
}

// Rows of a layer that one sequence takes at most: while its block grows, the old one stands beside the new one.
int64_t self_bytes(const Config& config, const DecoderState::Need& need) {
  return (need.rows * config.decoder.layers + 1) * need.tokens * bytes_per_token(config);
}

}  // namespace

Seq2SeqState::Seq2SeqState(const Seq2Seq& model) : model_(model) {
  start_token(model.config());  // without one there is nothing to begin with
}

void Seq2SeqState::read_sources(const std::vector<std::vector<int32_t>>& sources, std::span<const int64_t> limits) {
  const Tokens source = Tokens::of(sources);
  Run run({.arena = arena_, .probe = probe_});
  const Tensor memory = model_.encode(run, source);
  for (int64_t i = 0; i < source.sequences.count(); ++i) {
    unseen_.push_back(memory.slice(source.sequences.begin(i), source.sequences.length(i)));
    cache_.add(1, limits[i]);
  }
  some_unseen_ = true;
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

void Seq2SeqState::reorder(std::span<const int32_t> rows) {
  std::vector<Tensor> unseen(rows.size());
  if (some_unseen_)
    for (size_t i = 0; i < rows.size(); ++i) unseen[i] = unseen_.at(rows[i]);
  some_unseen_ = false;
  for (const Tensor& tensor : unseen) some_unseen_ = some_unseen_ || !tensor.empty();
  unseen_ = std::move(unseen);
  cache_.reorder(rows);
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
  const int64_t cross =
      std::max(need.text, KeyValueCache::kFirstRows) * config.decoder.layers * bytes_per_token(config);
  return memory + cross + self_bytes(config, need);
}

// One pass, every row its part, which may be empty.
Tensor LanguageModelState::read_tokens(const std::vector<std::vector<int32_t>>& parts, const TokenChoice& choice) {
  Run run({.arena = arena_, .probe = probe_, .cache = &cache_});
  Batch batch;
  batch.input = Tokens::of(parts);
  Tensor x = model_.forward(run, batch, choice);
  for (size_t row = 0; row < parts.size(); ++row) {
    const auto before = std::ssize(read_[row]), tokens = std::ssize(parts[row]);
    attended_ += tokens * before + tokens * (tokens + 1) / 2;
    read_[row].insert(read_[row].end(), parts[row].begin(), parts[row].end());
  }
  return x;
}

// A row for a text, that has as much of its beginning as some text that runs or is remembered. False: a text that is
// about to be read in the same pass has more of it: better to wait for that one.
bool LanguageModelState::add_row(const Unread& unread, std::span<const std::span<const int32_t>> before) {
  const auto beginning = std::span(unread.text).first(unread.text.size() - 1);  // the last token is the first step's
  PrefixStore::Found found = store_.find(beginning);
  KeyValueCache::Saved running;
  for (size_t row = 0; row < read_.size(); ++row)
    if (const int64_t tokens = common_beginning(read_[row], beginning); tokens > found.tokens) {
      running = cache_.save(static_cast<int64_t>(row));
      found = {&running, tokens};
    }
  if (found.tokens < kLeastShared) found.tokens = 0;
  for (const auto& other : before)
    if (common_beginning(other, beginning) >= found.tokens + kLeastShared) return false;
  if (found.tokens > 0)
    cache_.add(*found.saved, found.tokens, unread.limit);
  else
    cache_.add(1, unread.limit);
  read_.emplace_back(beginning.begin(), beginning.begin() + found.tokens);
  reused_ += found.tokens;
  return true;
}

// What the next pass reads of the next texts, at most so many tokens; returns how many they are.
int64_t LanguageModelState::plan_part(int64_t tokens, std::vector<int32_t>& last) {
  std::vector<std::vector<int32_t>> parts(read_.size());
  std::vector<std::span<const int32_t>> beginnings;
  int64_t left = tokens;
  for (size_t texts = 0; texts < unread_.size(); ++texts) {
    const bool begun = texts == 0 && half_read_;
    if (!begun && (left == 0 || !add_row(unread_[texts], beginnings))) break;
    parts.resize(read_.size());
    beginnings.push_back(std::span(unread_[texts].text).first(unread_[texts].text.size() - 1));
    const auto rest = beginnings.back().subspan(read_.back().size());
    const auto part = rest.first(std::min(rest.size(), static_cast<size_t>(left)));
    parts.back().assign(part.begin(), part.end());
    left -= static_cast<int64_t>(part.size());
    half_read_ = part.size() < rest.size();
    if (half_read_) break;
    last.push_back(unread_[texts].text.back());
  }
  unread_.erase(unread_.begin(), unread_.begin() + static_cast<ptrdiff_t>(last.size()));
  if (left < tokens) planned_ = std::move(parts);
  prompt_tokens_ += tokens - left;
  return tokens - left;
}

std::vector<int32_t> LanguageModelState::read_on(int64_t tokens) {
  std::vector<int32_t> result;
  while (tokens > 0 && !unread_.empty()) {
    finish_reading();
    std::vector<int32_t> last;
    tokens -= plan_part(std::min(tokens, kReadAtOnce), last);
    result.insert(result.end(), last.begin(), last.end());
  }
  if (probe_) finish_reading();  // it sees prompts and steps apart
  return result;
}

void LanguageModelState::finish_reading() {
  if (!planned_.empty()) read_tokens(std::exchange(planned_, {}), TokenChoice::all());
}

void LanguageModelState::drop_unread(int64_t index) {
  finish_reading();
  if (index == 0 && half_read_) {
    half_read_ = false;
    std::vector<int32_t> others(read_.size() - 1);
    std::iota(others.begin(), others.end(), 0);
    reorder(others);
  }
  DecoderState::drop_unread(index);
}

Tensor LanguageModelState::read(std::span<const int32_t> ids) {
  check_rows(ids.size(), rows());
  std::vector<std::vector<int32_t>> parts = std::exchange(planned_, {});
  parts.resize(read_.size());
  std::vector<int32_t> last;  // of each row, among the tokens of the pass
  int32_t tokens = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    parts[i].push_back(ids[i]);
    tokens += static_cast<int32_t>(parts[i].size());
    last.push_back(tokens - 1);
  }
  const bool one_each = tokens == static_cast<int32_t>(ids.size()) && (!half_read_ || parts.back().empty());
  return read_tokens(parts, one_each ? TokenChoice::all() : TokenChoice::of(std::move(last)));
}

void LanguageModelState::reorder(std::span<const int32_t> rows) {
  finish_reading();
  std::vector<int32_t> chosen(rows.begin(), rows.end());
  if (half_read_) chosen.push_back(static_cast<int32_t>(read_.size()) - 1);
  std::vector<std::vector<int32_t>> kept;
  kept.reserve(chosen.size());
  for (const int32_t row : chosen) kept.push_back(read_.at(row));
  read_ = std::move(kept);
  cache_.reorder(chosen);
}

int64_t LanguageModelState::bytes_for(const Need& need) const { return self_bytes(model_.config(), need); }

// Later tokens of a text attend to more. What a text may have in common with others is not known yet: it counts.
int64_t LanguageModelState::tokens_within(double budget, const ReadingCost& cost) const {
  int64_t tokens = 0;
  size_t position = half_read_ ? read_.back().size() : 0;
  for (const Unread& unread : unread_) {
    for (; position + 1 < unread.text.size(); ++position, ++tokens) {
      budget -= cost.token + cost.key * static_cast<double>(position + 1);
      if (budget < 0) return tokens;
    }
    position = 0;
    budget -= cost.text;
  }
  return tokens;
}

int64_t LanguageModelState::keys_of_step() const {
  int64_t keys = 0;
  for (int64_t row = 0; row < rows(); ++row) keys += std::ssize(read_[row]) + 1;
  return keys;
}

void LanguageModelState::cache_prefix(int64_t row) {
  finish_reading();
  if (static_cast<int64_t>(read_.at(row).size()) >= kLeastShared) store_.insert(read_[row], cache_.save(row));
}

}  // namespace limpid
