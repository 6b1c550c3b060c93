#pragma once
// GenerationTask: one text that is being written, apart from any model. The engine (inference/engine.h) gives it the
// scores of the next token for each of its rows and is told how they go on. A search has as many rows as live
// hypotheses, a drawn text has one.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/real.h"

namespace limpid {

enum class FinishReason {
  end_token,     // the model ended the text
  stop_string,   // a stop string came
  max_tokens,    // as many tokens as asked for
  context_full,  // no more tokens fit into the model's context
  cancelled,     // whoever listens has heard enough
  deadline,      // its time was over
};
std::string_view name_of(FinishReason reason);  // "end token", …

class GenerationTask {
 public:
  virtual ~GenerationTask() = default;

  // What the model reads first: of a language model the text to go on with, of an encoder-decoder model the source.
  virtual const std::vector<int32_t>& text() const = 0;

  struct Limits {
    int64_t rows = 1;
    int64_t tokens = 0;  // that the decoder reads in one row, with the text of a language model or the start token
    // That a block of memory may hold: rows that part from each other go on in the same block for a while.
    int64_t tokens_per_block() const { return rows > 1 ? 2 * tokens : tokens; }
  };
  virtual Limits limits() const = 0;

  // One step: every row's scores are looked at (rows from several threads at once; the scores may be changed), then
  // the text goes on.
  virtual void on_logits(int64_t row, std::span<real> scores) = 0;
  virtual void advance() = 0;

  struct Row {
    int32_t parent = 0;  // the row before the step that it continues
    int32_t id = 0;      // the token that it has chosen
  };
  virtual std::vector<Row> rows() const = 0;  // after the step; none: the text is done
  // The text outgrew the context and goes on from text(), which is to be read from the beginning: it has one row.
  virtual bool starts_anew() const { return false; }

  // The end, once: either it was done, or the engine ends it as it stands. Hands over the result.
  virtual void finish() = 0;
  virtual void stop(FinishReason reason) = 0;
};

}  // namespace limpid
