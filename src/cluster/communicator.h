#pragma once
// Communicator: how the processes (ranks) of one run on one or many machines exchange numbers and texts. Every call but
// rank() and size() is collective: all ranks make the same calls in the same order. One thread at a time may call.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/real.h"

namespace limpid {

// Where the numbers of each rank lie in a buffer.
struct RankBlocks {
  std::vector<int> counts, offsets;
};

// What the thread that a rank computes in does: nothing at all, wait for other ranks, or work.
enum class Doing { nothing, waiting, working };

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Something under way; the buffers it was started with stay as they are until test() says that it is over.
  class Transfer {
   public:
    virtual ~Transfer() = default;
  };
  // Sends every rank its block of `from`; what comes from each rank goes to its block of `to`.
  virtual std::unique_ptr<Transfer> start_exchange(const real* from, const RankBlocks& sent, real* to,
                                                   const RankBlocks& received) = 0;
  // Every rank's block of the buffer goes to all other ranks, or to one alone.
  static constexpr int kAll = -1;
  virtual std::unique_ptr<Transfer> start_gather(real* numbers, const RankBlocks& blocks, int to = kAll) = 0;
  virtual bool test(Transfer& transfer) = 0;

  // These wait.
  virtual void broadcast(std::span<std::byte> bytes) = 0;                // from rank 0 to all
  virtual std::vector<std::string> gather(const std::string& mine) = 0;  // the texts of all ranks, by rank

  // Tells the other ranks that this one is alive and what it does, and looks after them; to be called a few times per
  // second while nothing else is.
  virtual void show_life(Doing doing) = 0;
};

// What a communicator does about the other ranks (cluster/rank_watch.h). When one is lost it calls `lost` with a text
// that names the rank, from the thread that communicates. There is no going on after that. `note` hears what may be in
// order.
struct CommunicatorOptions {
  double silent_seconds = 15;  // a rank that has not been heard of for so long is lost
  double stuck_seconds = 180;  // and one that neither works nor waits for others, or waits in vain, as others do
  std::function<void(const std::string&)> lost, note;
};

// Of a process that runs alone.
std::unique_ptr<Communicator> make_lone_communicator();

// The ranks that mpirun has started; a lone communicator where it has not, or has started one. Loads the module
// limpid_mpi.so, which lies beside the program, and with it Open MPI; an Error where it is missing.
std::unique_ptr<Communicator> join_ranks(const CommunicatorOptions& options);

// Ranks that mpirun says it has started; 1 without it. Loads nothing.
int started_ranks();

}  // namespace limpid
