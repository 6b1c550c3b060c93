#pragma once
// PassMemory: what a pass over a text has shown, kept for whoever asks about the same text next. An Example that has
// one is run once for all that is asked about it (tap_values, record_taps, forward_logits).

#include <functional>
#include <mutex>
#include <set>

#include "inspect/tap_rows.h"

namespace limpid {

class PassMemory {
 public:
  using Values = std::map<std::string, TapValues>;

  // `taps`: all names of the model's taps. all_at_once: the first pass keeps every one of them, not only those asked
  // for. No more than `most_bytes` of numbers are kept.
  PassMemory(std::vector<std::string> taps, bool all_at_once, int64_t most_bytes);

  const std::vector<std::string>& taps() const { return taps_; }
  // The values of these taps, of which those that do not fire are left out. Unknown ones come from `pass`, which gets
  // their names; whoever asks meanwhile waits for it.
  Values values(const std::vector<std::string>& names,
                const std::function<Values(const std::vector<std::string>&)>& pass);

 private:
  const std::vector<std::string> taps_;
  const bool all_at_once_;
  const int64_t most_bytes_;
  std::mutex mutex_;
  int64_t bytes_ = 0;
  std::set<std::string, std::less<>> known_;  // also names of taps that do not fire
  Values kept_;
};

}  // namespace limpid
