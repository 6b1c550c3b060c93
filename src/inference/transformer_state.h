#pragma once
// States of the Transformers that write: keys and values of what was read lie in a cache.

#include "inference/decoder_state.h"
#include "inference/prefix_store.h"
#include "models/language_model.h"
#include "models/seq2seq.h"

namespace limpid {

class Seq2SeqState : public SourceState {
 public:
  explicit Seq2SeqState(const Seq2Seq& model);

  int64_t rows() const override { return cache_.sequences(); }
  void reorder(std::span<const int32_t> rows) override;

  int64_t bytes_for(const Need& need) const override;
  int64_t bytes() const override { return cache_.bytes() + unseen_bytes(); }
  int64_t most_bytes() const override { return cache_.most_bytes(); }

 private:
  void read_sources(const std::vector<std::vector<int32_t>>& sources, std::span<const int64_t> limits) override;
  int32_t start() const override { return static_cast<int32_t>(*model_.config().decoder_start_token); }
  Tensor read(std::span<const int32_t> ids) override;
  const Output& output() const override { return model_.output(); }
  int64_t unseen_bytes() const;

  const Seq2Seq& model_;
  KeyValueCache cache_{0};
  std::vector<Tensor> unseen_;  // by row: an encoder's output that the decoder has not looked at yet, else empty
  bool some_unseen_ = false;
};

class LanguageModelState : public DecoderState {
 public:
  explicit LanguageModelState(const LanguageModel& model) : model_(model) {}

  int64_t rows() const override { return cache_.sequences() - (half_read_ ? 1 : 0); }
  std::vector<int32_t> read_on(int64_t tokens) override;
  void finish_reading() override;
  void drop_unread(int64_t index) override;
  void reorder(std::span<const int32_t> rows) override;

  int64_t bytes_for(const Need& need) const override;
  int64_t bytes() const override { return cache_.bytes(); }
  int64_t most_bytes() const override { return cache_.most_bytes(); }

  int64_t tokens_within(double budget, const ReadingCost& cost) const override;
  int64_t keys_of_step() const override;
  int64_t keys_attended() const override { return attended_; }

  void cache_prefix(int64_t row) override;
  void evict_to(int64_t bytes) override { store_.shrink(bytes); }
  int64_t remembered_bytes() const override { return store_.bytes(); }
  int64_t reused_tokens() const override { return reused_; }

 private:
  Tensor read(std::span<const int32_t> ids) override;
  const Output& output() const override { return model_.output(); }
  Tensor read_tokens(const std::vector<std::vector<int32_t>>& parts, const TokenChoice& choice);
  int64_t plan_part(int64_t tokens, std::vector<int32_t>& last);
  bool add_row(const Unread& unread, std::span<const std::span<const int32_t>> before);

  const LanguageModel& model_;
  KeyValueCache cache_{0};
  std::vector<std::vector<int32_t>> read_;     // by row: the tokens in the cache
  std::vector<std::vector<int32_t>> planned_;  // by row: those that the next pass is to read first; empty: none at all
  bool half_read_ = false;                     // the last row is that of the first unread text, which is read in part
  PrefixStore store_;
  int64_t reused_ = 0, attended_ = 0;
};

}  // namespace limpid
