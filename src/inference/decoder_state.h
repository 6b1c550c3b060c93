#pragma once
// DecoderState: what a model that writes has read so far, for many texts at once, one row each. The same for
// Transformers (keys and values in a cache), recurrent models (their states) and language models. Searching and drawing
// stand on it and know nothing of families.
//
//   auto state = make_decoder_state(model);
//   std::vector<int32_t> ids = state->add(texts);   // a row each; further texts may join before any step
//   for (…) {
//     const Tensor logits = state->step(ids);       // one next token for each row
//     … choose ids …
//     state->reorder(rows);                            // row i goes on from what rows[i] was
//   }

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "models/model.h"

namespace limpid {

class DecoderState {
 public:
  virtual ~DecoderState() = default;

  virtual int64_t rows() const = 0;

  // Every pass from now on shows its values to the probe and goes on with what it returns; null: none. Rows are
  // sequences, in their order.
  void watch(Probe* probe) { probe_ = probe; }

  // Texts that are to be read, a row each behind the others. Encoder-decoder models: sources, with their end token;
  // language models: beginnings to go on from. `limits`: for each text the most tokens that a block of memory is to
  // hold, at least what one of its rows will have read (of a language model with the text); 0 or none: nobody knows.
  void begin(std::span<const std::vector<int32_t>> texts, std::span<const int64_t> limits);
  // Reads on in them, first come first served, about so many tokens. Returns, for each text that is read now, the token
  // that its row's first step is to be given. What a row has read does not depend on how its reading was cut. A model
  // may put off the last of its passes, so that the next step does both at once and reads its weights once.
  virtual std::vector<int32_t> read_on(int64_t tokens) = 0;
  virtual void finish_reading() {}  // does what was put off now
  int64_t unread() const { return static_cast<int64_t>(unread_.size()); }
  virtual void drop_unread(int64_t index);  // one of those that are not read yet, in their order

  // Both at once.
  std::vector<int32_t> add(std::span<const std::vector<int32_t>> texts, std::span<const int64_t> limits = {});

  // Takes one token for each row and gives the scores of the token after it, (rows, vocab).
  Tensor step(std::span<const int32_t> ids);
  // The same, some rows after others: look(first, scores), while their scores lie in the cache.
  void step(std::span<const int32_t> ids, const std::function<void(int64_t first, Matrix scores)>& look);

  // Row i is from now on what row rows[i] was: chooses, drops, repeats and reorders. Rows that were one share what they
  // have read.
  virtual void reorder(std::span<const int32_t> rows) = 0;

  // ---- memory, in bytes
  struct Need {
    int64_t text = 0;    // tokens of the text that is added
    int64_t tokens = 0;  // its limit
    int64_t rows = 1;    // that it will have at most
  };
  virtual int64_t bytes_for(const Need& need) const = 0;  // the most that a text can come to hold
  virtual int64_t bytes() const = 0;                      // held now
  virtual int64_t most_bytes() const = 0;                 // held at any time since the beginning

  // ---- work: what a step takes besides time for every token
  struct ReadingCost {
    double token = 0, key = 0;  // of a token that is read; of a key that it attends to
    double text = 0;            // of a text that is read to its end: its first token is written in the same step
  };
  // How many tokens of the texts to be read come to at most so much.
  virtual int64_t tokens_within(double budget, const ReadingCost& cost) const;
  int64_t prompt_tokens_read() const { return prompt_tokens_; }  // since the beginning; those put off are counted
  virtual int64_t keys_of_step() const { return 0; }             // of the rows' next tokens alone
  virtual int64_t keys_attended() const { return 0; }            // by all tokens since the beginning

  // ---- beginnings in common: where a model cannot use them again, nothing is remembered
  virtual void cache_prefix(int64_t /*row*/) {}  // what the row has read outlives it
  virtual void evict_to(int64_t /*bytes*/) {}
  virtual int64_t remembered_bytes() const { return 0; }
  virtual int64_t reused_tokens() const { return 0; }  // that were not read again since the beginning

 protected:
  // The vectors of the tokens, a row each, of which the output makes scores.
  virtual Tensor read(std::span<const int32_t> ids) = 0;
  virtual const Output& output() const = 0;

  struct Unread {
    std::vector<int32_t> text;
    int64_t limit = 0;
  };
  std::deque<Unread> unread_;
  int64_t prompt_tokens_ = 0;
  Arena arena_;
  Probe* probe_ = nullptr;

 private:
  Tensor scores(const Tensor& x) const;
};

// States of models that read a source, and read it whole.
class SourceState : public DecoderState {
 public:
  std::vector<int32_t> read_on(int64_t tokens) override;

 protected:
  // Adds a row for each.
  virtual void read_sources(const std::vector<std::vector<int32_t>>& sources, std::span<const int64_t> limits) = 0;
  virtual int32_t start() const = 0;  // what a first step is given
};

// Throws for a model that does not write. The model must outlive the state.
std::unique_ptr<DecoderState> make_decoder_state(const Model& model);

// What an encoder-decoder model's decoder begins with; an Error where the config does not say.
int32_t start_token(const Config& config);

// The most tokens that the model can read in one text, as far as its table of positions decides.
int64_t most_positions(const Config& config);
// How many tokens it was made for: its table of positions or, with rotary ones, which never end, what its config says;
// the largest integer where nothing limits it, as nothing does in recurrent models.
int64_t context_length(const Config& config);

}  // namespace limpid
