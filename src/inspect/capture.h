#pragma once
// Capture: the values of chosen taps over many texts, streamed to disk. Sizes follow from the lengths of the texts, so
// the bytes are known before the first pass, and memory holds one text at a time.
//
// Arrays: one per tap under its name. Rows of tokens are (rows of all texts, features), text after text. Pairs are for
// each text (heads, queries, keys): an array of that shape where there is one text, else all numbers in a row.
// "texts" (texts, 2) holds the tokens of the source and of the input, "input_ids" and "source_ids" the tokens. Taps of
// recurrent layers that go backwards stand in the order of their steps: the last token first.
//
// A text is read in one pass, or token by token through the decoder's cache as when it is written. Then a key that
// comes after its query was not there yet: its pattern is 0, its scores are -∞.

#include <functional>
#include <optional>

#include "inspect/array_file.h"
#include "inspect/session.h"
#include "inspect/tap_names.h"

namespace limpid {

struct CaptureOptions {
  std::vector<std::string> patterns;  // at least one, our names or TransformerLens'
  std::vector<int64_t> layers;        // none: all
  std::vector<int64_t> positions;     // of rows (of pairs: queries), negative from the end; none: all
  bool token_by_token = false;        // of models that write
};

struct CapturePlan {
  std::vector<TapInfo> taps;
  std::vector<int64_t> positions;
  bool token_by_token = false;
  int64_t texts = 0, source_tokens = 0, input_tokens = 0;
  std::vector<ArrayShape> arrays;  // taps first, then texts, input_ids, source_ids
  int64_t bytes = 0;               // of the numbers
};

// Counts over all examples. `examples` is gone through twice, here and in capture(), and must give the same ones; it
// calls its argument with each.
using Examples = std::function<void(const std::function<void(const Example&)>&)>;
CapturePlan plan_capture(const Model& model, const CaptureOptions& options, const Examples& examples);
void capture(const Model& model, const CapturePlan& plan, const Examples& examples, const std::filesystem::path& path,
             const std::function<void(int64_t texts)>& progress = {});

}  // namespace limpid
