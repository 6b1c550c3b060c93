#pragma once
// Continuations: the scores of the next token after a text, as it goes on along one branch or several. What the text's
// interventions change is changed at every token. Without interventions keys and values are kept from token to token;
// with them the whole text is read anew for each, since an intervention names positions of the whole.

#include <memory>
#include <span>
#include <vector>

#include "inference/decoder_state.h"
#include "inference/generation_task.h"
#include "inspect/session.h"

namespace limpid {

class Continuations {
 public:
  // Language models go on behind the example's text; encoder-decoder models write for its source, behind `prefix`.
  Continuations(const Model& model, const Example& example, std::vector<int32_t> prefix = {});

  int64_t rows() const { return static_cast<int64_t>(written_.size()); }  // branches; one at the beginning
  ConstMatrix scores();                                                   // (rows, vocabulary)
  void go_on(
      std::span<const GenerationTask::Row> rows);  // branch i goes on from what rows[i].parent was, with rows[i].id
  bool full() const;                               // no further token fits into the model's context

  const std::vector<int32_t>& written(int64_t row) const { return written_[row]; }  // prefix left out

 private:
  void read_whole();

  const Model& model_;
  const Example& example_;
  std::vector<int32_t> prefix_;
  std::vector<std::vector<int32_t>> written_;
  std::unique_ptr<DecoderState> state_;  // null: texts are read whole
  std::vector<int32_t> next_;            // what each row of the state reads next
  Tensor scores_;
  std::vector<real> whole_;
};

}  // namespace limpid
