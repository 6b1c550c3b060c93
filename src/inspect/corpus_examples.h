#pragma once
// Texts of files as examples for a model, one at a time in constant memory: a line each, or the whole file as a stream
// cut into windows.

#include <deque>
#include <optional>

#include "inspect/session.h"
#include "text/line_reader.h"

namespace limpid {

struct CorpusOptions {
  std::vector<std::string> files;  // one; of encoder-decoder models the sources and the targets, line by line
  int64_t window = 0;              // tokens: the text as one stream (language models); 0: a line is a text
  int64_t most = 0;                // texts at most; 0: all
};

class CorpusExamples {
 public:
  CorpusExamples(const Session& session, CorpusOptions options);

  // Blank lines are left out (on both sides together), and lines longer than the model reads are cut.
  std::optional<Example> next();
  void restart();
  double progress() const;  // share read, 0 … 1

 private:
  std::optional<Example> next_line();
  std::optional<Example> next_window();
  std::optional<std::string_view> line();  // of the first file

  const Session* session_;
  CorpusOptions options_;
  std::optional<LineReader> source_, target_;
  std::deque<int32_t> stream_;
  int64_t given_ = 0;
};

// Several examples as one batch, with the labels that make their loss: the next token (language models), the target
// (encoder-decoder models), what stands there (encoders). Classifiers have no labels: nothing is scored.
Batch join_examples(const Config& config, const std::vector<Example>& examples);

// A text's tokens as people read them, of the side that a tap belongs to.
const std::vector<std::string>& tokens_at(const Example& example, bool source);

}  // namespace limpid
