#pragma once
// PassMemory: what a pass over a text has shown, kept for whoever asks about the same text next. An Example that has
// one is run once for all that is asked about it (tap_values, record_taps, forward_logits). Values stay where the pass
// has left them: nothing is copied.

#include <atomic>
#include <mutex>
#include <set>

#include "inspect/tap_rows.h"

namespace limpid {

class PassMemory {
 public:
  // For the session's model, or one of the same taps. A first pass keeps every tap where those of this text take no
  // more than `most_bytes`, else those that are asked for, of which the ones used last stay. Passes take their memory
  // from the arena.
  PassMemory(const Session& session, int64_t most_bytes, Arena arena);

  // The values of these taps, of which those that do not fire are left out. Whoever asks while a pass runs waits; the
  // next pass then shows what all who wait have asked for.
  std::map<std::string, TapValues> values(const Model& model, const Example& example,
                                          const std::vector<std::string>& names);
  Tensor logits(const Model& model, const Example& example);
  // Of all taps of a text together.
  static int64_t bytes_of(const Session& session, const Example& example);
  // The names of the model's taps that one of the patterns matches.
  std::vector<std::string> matching(const std::vector<std::string>& patterns) const;

  // Lets go of everything, unless a pass runs; true where it did.
  bool forget();
  int64_t bytes() const { return bytes_.load(); }
  size_t asking();  // names that are being asked now

 private:
  struct Kept {
    TapValues values;
    uint64_t used = 0;  // when

    int64_t bytes() const { return std::ssize(values.all()) * static_cast<int64_t>(sizeof(real)); }
  };
  class Keeper;
  class Asking;

  std::set<std::string, std::less<>> unknown();  // of what is asked
  // Runs the model for all that is asked and not known; of a pass that has been made, the output layer alone.
  void know(const Model& model, const Example& example);
  void keep(Keeper& keeper);
  void trim();  // what does not fit and is not asked goes

  const Session& session_;
  const int64_t most_bytes_;
  const Arena arena_;

  std::mutex asking_;
  std::multiset<std::string, std::less<>> asked_;  // by all who are in here now

  std::mutex mutex_;  // of a pass and of what follows
  uint64_t clock_ = 0;
  std::atomic<int64_t> bytes_ = 0;
  std::set<std::string, std::less<>> known_;  // also names of taps that do not fire
  std::map<std::string, Kept, std::less<>> kept_;
  Tensor last_;  // what the output layer reads
};

}  // namespace limpid
