// The module limpid_mpi.so: a Communicator on Open MPI.
//
// Sums are never left to MPI, which does not promise an order; it only carries numbers. All waiting is by looking again
// after a while, so that a rank that is lost is noticed: rank 0 and each other rank tell one another every second that
// they are alive.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <exception>

#include "base/error.h"
#include "cluster/mpi_module.h"
#include "cluster/patience.h"

namespace limpid {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kBeat = 1s;
constexpr int kLifeTag = 1;
constexpr int kIdle = 0, kAtWork = 1, kLost = 2;  // signs of life: kLost + rank says that this rank is lost
constexpr double kFarewell = 0.3;                 // seconds for telling that
constexpr size_t kMostBytes = size_t{1} << 28;    // of one message: MPI counts in int

const MPI_Datatype kReals = sizeof(real) == 4 ? MPI_FLOAT : MPI_DOUBLE;

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  fail(ErrorKind::io, "[mpi] {} failed: {}: has another rank ended?", what, text.data());
}

double seconds_since(Clock::time_point time) { return std::chrono::duration<double>(Clock::now() - time).count(); }

std::string host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<size_t>(length)};
}

class MpiTransfer : public Communicator::Transfer {
 public:
  MPI_Request request = MPI_REQUEST_NULL;
  RankBlocks sent, received;  // MPI reads these until the end
};

// The signs of life that one rank gets from another.
struct Peer {
  int rank = 0;
  int sent = kAtWork, got = kIdle;
  MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
  Clock::time_point heard = Clock::now(), worked = Clock::now();
};

class MpiCommunicator : public Communicator {
 public:
  explicit MpiCommunicator(const CommunicatorOptions& options) : options_(options) {
    int provided = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init");
    check(provided >= MPI_THREAD_SERIALIZED, "[mpi] this Open MPI was built without threads: use Debian's");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_dup(MPI_COMM_WORLD, &life_);
    MPI_Comm_set_errhandler(life_, MPI_ERRORS_RETURN);
    meet();
  }

  ~MpiCommunicator() override {
    if (std::uncaught_exceptions() > 0 || lost_) return;  // mpirun sees how this rank ends, and ends the others
    try {
      gather("");  // nobody leaves before the others
      for (Peer& peer : peers_) {
        MPI_Cancel(&peer.receiving);
        MPI_Wait(&peer.receiving, MPI_STATUS_IGNORE);
        MPI_Wait(&peer.sending, MPI_STATUS_IGNORE);
      }
      MPI_Comm_free(&life_);
      MPI_Finalize();
    } catch (const Error&) {  // another rank has ended otherwise, and mpirun says so
    }
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Transfer> start_exchange(const real* from, const RankBlocks& sent, real* to,
                                           const RankBlocks& received) override {
    auto transfer = std::make_unique<MpiTransfer>();
    transfer->sent = sent;
    transfer->received = received;
    check_mpi(MPI_Ialltoallv(from, transfer->sent.counts.data(), transfer->sent.offsets.data(), kReals, to,
                             transfer->received.counts.data(), transfer->received.offsets.data(), kReals,
                             MPI_COMM_WORLD, &transfer->request),
              "an exchange");
    return transfer;
  }

  std::unique_ptr<Transfer> start_gather(real* numbers, const RankBlocks& blocks, int to) override {
    auto transfer = std::make_unique<MpiTransfer>();
    transfer->received = blocks;
    const auto& [counts, offsets] = transfer->received;
    if (to == kAll)
      check_mpi(MPI_Iallgatherv(MPI_IN_PLACE, 0, kReals, numbers, counts.data(), offsets.data(), kReals, MPI_COMM_WORLD,
                                &transfer->request),
                "gathering");
    else
      check_mpi(MPI_Igatherv(rank_ == to ? MPI_IN_PLACE : numbers + offsets[rank_], counts[rank_], kReals, numbers,
                             counts.data(), offsets.data(), kReals, to, MPI_COMM_WORLD, &transfer->request),
                "gathering");
    return transfer;
  }

  bool test(Transfer& transfer) override { return is_done(static_cast<MpiTransfer&>(transfer).request); }

  void broadcast(std::span<std::byte> bytes) override {
    for (size_t begin = 0; begin < bytes.size(); begin += kMostBytes) {
      MPI_Request request = MPI_REQUEST_NULL;
      const auto part = bytes.subspan(begin, std::min(kMostBytes, bytes.size() - begin));
      check_mpi(MPI_Ibcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, 0, MPI_COMM_WORLD, &request),
                "a broadcast");
      wait(request);
    }
  }

  std::vector<std::string> gather(const std::string& mine) override {
    std::vector<int> lengths(size_), offsets(size_);
    const auto own = static_cast<int>(mine.size());
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallgather(&own, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD, &request), "gathering");
    wait(request);
    int64_t total = 0;
    for (int rank = 0; rank < size_; ++rank) {
      offsets[rank] = static_cast<int>(total);
      total += lengths[rank];
    }
    check(total <= INT_MAX, "[mpi] {} bytes of all ranks are more than a message can hold", total);
    std::string all(static_cast<size_t>(total), '\0');
    check_mpi(MPI_Iallgatherv(mine.data(), own, MPI_BYTE, all.data(), lengths.data(), offsets.data(), MPI_BYTE,
                              MPI_COMM_WORLD, &request),
              "gathering");
    wait(request);
    std::vector<std::string> texts;
    for (int rank = 0; rank < size_; ++rank) texts.push_back(all.substr(offsets[rank], lengths[rank]));
    return texts;
  }

  void show_life(bool at_work) override {
    at_work_ = at_work_ || at_work;
    const bool beat = seconds_since(shown_) >= std::chrono::duration<double>(kBeat).count();
    for (Peer& peer : peers_) {
      if (beat && is_done(peer.sending)) {
        send(peer, at_work_ ? kAtWork : kIdle);
      }
      while (is_done(peer.receiving)) {
        if (peer.got >= kLost) be_told(peer.got - kLost);
        peer.heard = Clock::now();
        if (peer.got == kAtWork) peer.worked = peer.heard;
        listen(peer);
      }
      look_after(peer);
    }
    if (!beat) return;
    shown_ = Clock::now();
    at_work_ = false;
  }

 private:
  // Who is where, and the first signs of life.
  void meet() {
    for (const std::string& place : gather(fmt::format("process {} on {}", ::getpid(), host_name())))
      names_.push_back(fmt::format("rank {} ({})", names_.size(), place));
    for (int rank = 0; rank < size_; ++rank)
      if (rank != rank_ && (rank == 0 || rank_ == 0)) peers_.push_back({.rank = rank});
    for (Peer& peer : peers_) listen(peer);
  }

  void listen(Peer& peer) {
    check_mpi(MPI_Irecv(&peer.got, 1, MPI_INT, peer.rank, kLifeTag, life_, &peer.receiving), "a sign of life");
  }

  void send(Peer& peer, int sign) {
    peer.sent = sign;
    check_mpi(MPI_Isend(&peer.sent, 1, MPI_INT, peer.rank, kLifeTag, life_, &peer.sending), "a sign of life");
  }

  void look_after(const Peer& peer) {
    if (lost_) return;
    if (const double silent = seconds_since(peer.heard); silent > options_.silent_seconds)
      lose(peer.rank,
           fmt::format("has not been heard of for {:.0f} s: its machine, its network or the process has failed; the "
                       "same command goes on from the last checkpoint",
                       silent));
    else if (const double idle = seconds_since(peer.worked); idle > options_.stuck_seconds)
      lose(peer.rank, fmt::format("has been stuck for {:.0f} s: it neither computes nor waits for others; is its disk "
                                  "gone? The same command goes on from the last checkpoint",
                                  idle));
  }

  // By rank 0, which looks after all: the other ranks have no signs of life but its own.
  void be_told(int rank) {
    if (!lost_) lose(rank, "is lost, says rank 0; the same command goes on from the last checkpoint");
  }

  void lose(int rank, const std::string& why) {
    lost_ = true;
    tell_others(rank);
    const std::string text = fmt::format("[mpi] {} {}", names_[rank], why);
    if (options_.lost) options_.lost(text);
    throw Error(text, ErrorKind::io);
  }

  void tell_others(int lost) {
    try {
      for (Peer& peer : peers_)
        if (peer.rank != lost && is_done(peer.sending)) send(peer, kLost + lost);
      for (const auto begun = Clock::now(); seconds_since(begun) < kFarewell; ::usleep(10'000))
        for (Peer& peer : peers_)
          if (peer.rank != lost) is_done(peer.sending);
    } catch (const Error&) {  // they will notice by themselves
    }
  }

  static bool is_done(MPI_Request& request) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "communication");
    return done != 0;
  }

  // For what is small or rare: the thread that calls shows life itself meanwhile.
  void wait(MPI_Request& request) {
    for (Patience patience; !is_done(request); show_life(true)) patience.wait();
  }

  CommunicatorOptions options_;
  int rank_ = 0, size_ = 1;
  std::vector<std::string> names_;  // of all ranks: number, process and host
  MPI_Comm life_ = MPI_COMM_NULL;
  std::vector<Peer> peers_;  // of rank 0 all others, of the others rank 0
  Clock::time_point shown_;
  bool at_work_ = true, lost_ = false;
};

}  // namespace
}  // namespace limpid

extern "C" limpid::Communicator* limpid_join_mpi(const limpid::CommunicatorOptions& options) {
  return new limpid::MpiCommunicator(options);
}

extern "C" const char* limpid_mpi_version() { return LIMPID_VERSION; }
