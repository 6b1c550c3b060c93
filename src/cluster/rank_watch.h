#pragma once
// RankWatch: what a rank concludes from the signs of life of others. Rank 0 watches all others and each of them rank 0,
// so that what two others have with each other shows to rank 0 alone: by what they do and by how far they have come.
//
// Ended is a run in which a rank is silent, one does nothing, or all wait for each other and nothing moves. A rank that
// works while all others wait for it may have much to do: that is only noted, and so is half the time of a silence,
// because mpirun may notice what is wrong with a network before the ranks do, and knows no ranks.

#include <optional>
#include <string>
#include <vector>

#include "cluster/communicator.h"

namespace limpid {

struct SignOfLife {
  int64_t doing = 0;  // a Doing
  int64_t done = 0;   // exchanges that are over: all ranks have the same ones in the same order
  int64_t lost = -1;  // the rank that the run is ended for
};

class RankWatch {
 public:
  struct Limits {
    double silent = 15, stuck = 180;  // seconds
  };
  // Times are seconds of any steady clock.
  RankWatch(int rank, int size, Limits limits, double now);

  void heard(int rank, const SignOfLife& sign, double now);  // this one's own sign too

  struct Finding {
    std::vector<int> ranks;  // that it is about
    std::string text;        // to follow their names
    bool ends = true;        // the run; otherwise a note
  };
  // To be asked often: one that was away for seconds, as all processes are in a machine that was suspended, begins to
  // count anew, for it cannot have heard anybody.
  std::optional<Finding> look(double now);

 private:
  struct Other {
    SignOfLife sign;
    bool met = false, noted = false;
    double heard = 0, worked = 0;  // when last
  };
  bool watches(int rank) const { return rank != rank_ && (rank_ == 0 || rank == 0); }
  void count_anew(double now);
  std::optional<Finding> look_at(int rank, double now);
  std::optional<Finding> look_at_all(double now);

  int rank_;
  Limits limits_;
  std::vector<Other> all_;  // by rank; of the ranks but 0, only rank 0's and their own say anything
  // When last: it looked; an exchange was over somewhere; a rank did not wait for others.
  double looked_, moved_, idle_ = 0;
  bool noted_ = false;
};

}  // namespace limpid
