#pragma once
// Names of taps as people give them: our own (docs/taps.md) or those of TransformerLens, with * for any run of
// characters; and which taps a model has.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"

namespace limpid {

// What the rows of a tap (of pairs: the queries, and the keys) are the tokens of.
enum class TapAxis { source, input, text };  // the source, what the model reads, or one row for a whole text

struct TapInfo {
  std::string name;
  TapAxis rows = TapAxis::input;
  std::optional<TapAxis> keys;  // pairs only
  int64_t heads = 1;
  int64_t cols = 0;  // features of a row; pairs: 0, as many as there are keys

  // Numbers in a text of so many tokens.
  int64_t row_count(int64_t source, int64_t input) const { return count(rows, source, input); }
  int64_t key_count(int64_t source, int64_t input) const { return keys ? count(*keys, source, input) : 0; }

 private:
  static int64_t count(TapAxis axis, int64_t source, int64_t input) {
    return axis == TapAxis::source ? source : axis == TapAxis::input ? input : 1;
  }
};

// All taps of a model in the order in which they fire, found by a pass over a text of a few tokens.
std::vector<TapInfo> list_taps(const Model& model);

// The number in "decoder.3.ffn.post"; -1 where the tap lies in no layer.
int64_t layer_of(const std::string& tap);

// A name or pattern in our own words. Those of TransformerLens ("blocks.3.attn.hook_pattern", "hook_embed",
// "decoder.*.cross_attn.hook_q") are translated; a hook that Limpid does not have is an Error.
std::string our_tap_name(std::string_view name, const Config& config);

// The other way: TransformerLens' name of one of our taps; our own where it has none.
std::string hook_name(const std::string& tap, const Config& config);

// The taps that a pattern means; an Error that names the nearest where there is none.
std::vector<TapInfo> find_taps(const std::vector<TapInfo>& taps, std::string_view pattern, const Config& config);

}  // namespace limpid
