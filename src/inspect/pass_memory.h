#pragma once
// PassMemory: what a pass over a text has shown, kept for whoever asks about the same text next. An Example that has
// one is run once for all that is asked about it (tap_values, record_taps, forward_logits). Values stay where the pass
// has left them: nothing is copied before somebody asks.

#include <mutex>
#include <set>

#include "inspect/tap_rows.h"

namespace limpid {

class PassMemory {
 public:
  // For the session's model, or one of the same taps. A first pass keeps every tap where those of this text take no
  // more than `most_bytes`, else those that are asked for, as long as they fit. Passes take their memory from the
  // arena.
  PassMemory(const Session& session, int64_t most_bytes, Arena arena);

  // The values of these taps, of which those that do not fire are left out. Whoever asks while a pass runs waits.
  std::map<std::string, TapValues> values(const Model& model, const Example& example,
                                          const std::vector<std::string>& names);
  Tensor logits(const Model& model, const Example& example);
  // The names of the model's taps that one of the patterns matches.
  std::vector<std::string> matching(const std::vector<std::string>& patterns) const;

 private:
  struct Kept {
    Tensor value;  // rows of tokens; of pairs one row: (heads, queries, keys)
    bool pairs = false;
    int64_t heads = 1, keys = 0;
    TapValues steps;  // instead, where a tap fires once a step

    int64_t bytes() const;
    TapValues values() const;
  };
  class Keeper;
  using Shown = std::map<std::string, Kept, std::less<>>;

  // Runs the model for those that are not known; what does not fit is left in `besides`.
  void know(const Model& model, const Example& example, const std::vector<std::string>& names, Shown& besides);

  const Session& session_;
  const int64_t most_bytes_;
  const Arena arena_;
  std::mutex mutex_;
  int64_t bytes_ = 0;
  std::set<std::string, std::less<>> known_;  // also names of taps that do not fire
  Shown kept_;
};

}  // namespace limpid
