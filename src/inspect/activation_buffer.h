#pragma once
// A stream of vectors from a tap, shuffled: texts are run through the model a batch at a time, and vectors are drawn at
// random from a buffer that is filled up again when half of it is used. Memory is that of the buffer, whatever the
// corpus; the corpus is read again from the start where it ends.

#include "base/random.h"
#include "inspect/corpus_examples.h"
#include "inspect/tap_names.h"

namespace limpid {

struct ActivationBufferOptions {
  std::string tap;              // ours, one
  int64_t rows = 0;             // of the buffer; 0: 64 MB
  int64_t batch_tokens = 2048;  // run through the model at once
  int64_t hold_out = 20;        // every so many-th text is left out, for measuring; 0: none
  uint64_t seed = 1;
};

class ActivationBuffer {
 public:
  ActivationBuffer(const Session& session, const CorpusOptions& corpus, const ActivationBufferOptions& options);

  int64_t width() const { return width_; }
  // Fills rows of vectors drawn without putting back.
  void draw(Matrix rows);
  int64_t texts() const { return texts_; }    // run so far
  int64_t epochs() const { return epochs_; }  // times that the corpus ended

 private:
  void fill();
  std::vector<Example> next_batch();

  const Session* session_;
  CorpusExamples corpus_;
  ActivationBufferOptions options_;
  Arena arena_;
  Random random_;
  int64_t width_ = 0, capacity_ = 0, held_ = 0;
  int64_t texts_ = 0, epochs_ = 0, place_ = 0, used_ = 0;  // place: of the next text in the corpus
  std::vector<real> numbers_;
};

// The texts that an ActivationBuffer leaves out, in batches of about so many tokens; `use` returns false to stop.
void each_held_out(const Session& session, const CorpusOptions& corpus, const ActivationBufferOptions& options,
                   const std::function<bool(const std::vector<Example>&)>& use);

// The vectors of a tap as they come, each batch's rows together.
class RowsProbe : public FunctionProbe {
 public:
  RowsProbe(const std::string& tap, std::function<void(ConstMatrix)> use);
};

}  // namespace limpid
