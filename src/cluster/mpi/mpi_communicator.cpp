// The module limpid_mpi.so: a Communicator on Open MPI.
//
// Sums are never left to MPI, which does not promise an order; it only carries numbers. All waiting is by looking again
// after a while, so that a rank that is lost is noticed: rank 0 and each other rank tell one another every second what
// they do (cluster/rank_watch.h).

#include <fmt/ranges.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <exception>

#include "base/error.h"
#include "cluster/deadline.h"
#include "cluster/mpi_module.h"
#include "cluster/patience.h"
#include "cluster/rank_watch.h"

namespace limpid {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kBeat = 1s;
constexpr int kLifeTag = 1, kNameTag = 2;
constexpr int kNameBytes = 320;                 // of a rank's process and host
constexpr double kFarewell = 0.3;               // seconds for telling the others which rank is lost
constexpr double kExplanation = 3;              // and for hearing which one made a call fail
constexpr size_t kMostBytes = size_t{1} << 24;  // of one message: so much is through in any time that counts as stuck

const MPI_Datatype kReals = sizeof(real) == 4 ? MPI_FLOAT : MPI_DOUBLE;

std::string error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return text.data();
}

double seconds_since(Clock::time_point time) { return std::chrono::duration<double>(Clock::now() - time).count(); }
double seconds_now() { return seconds_since(Clock::time_point()); }

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

// The signs of life between this rank and another.
struct Peer {
  int rank = 0;
  SignOfLife sent, got;
  MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
};

class MpiCommunicator : public Communicator {
 public:
  explicit MpiCommunicator(const CommunicatorOptions& options) : options_(options) {
    init();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    watch_.emplace(rank_, size_, RankWatch::Limits{options.silent_seconds, options.stuck_seconds}, seconds_now());
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
    check_code(MPI_Ialltoallv(from, transfer->sent.counts.data(), transfer->sent.offsets.data(), kReals, to,
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
      check_code(MPI_Iallgatherv(MPI_IN_PLACE, 0, kReals, numbers, counts.data(), offsets.data(), kReals,
                                 MPI_COMM_WORLD, &transfer->request),
                 "gathering");
    else
      check_code(MPI_Igatherv(rank_ == to ? MPI_IN_PLACE : numbers + offsets[rank_], counts[rank_], kReals, numbers,
                              counts.data(), offsets.data(), kReals, to, MPI_COMM_WORLD, &transfer->request),
                 "gathering");
    return transfer;
  }

  bool test(Transfer& transfer) override {
    const bool over = is_done(static_cast<MpiTransfer&>(transfer).request);
    if (over) ++sign_.done;
    return over;
  }

  void broadcast(std::span<std::byte> bytes) override {
    for (size_t begin = 0; begin < bytes.size(); begin += kMostBytes) {
      MPI_Request request = MPI_REQUEST_NULL;
      const auto part = bytes.subspan(begin, std::min(kMostBytes, bytes.size() - begin));
      check_code(MPI_Ibcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, 0, MPI_COMM_WORLD, &request),
                 "a broadcast");
      wait(request);
    }
  }

  std::vector<std::string> gather(const std::string& mine) override {
    std::vector<int> lengths(size_), offsets(size_);
    const auto own = static_cast<int>(mine.size());
    MPI_Request request = MPI_REQUEST_NULL;
    check_code(MPI_Iallgather(&own, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD, &request), "gathering");
    wait(request);
    int64_t total = 0;
    for (int rank = 0; rank < size_; ++rank) {
      offsets[rank] = static_cast<int>(total);
      total += lengths[rank];
    }
    check(total <= INT_MAX, "[mpi] {} bytes of all ranks are more than a message can hold", total);
    std::string all(static_cast<size_t>(total), '\0');
    check_code(MPI_Iallgatherv(mine.data(), own, MPI_BYTE, all.data(), lengths.data(), offsets.data(), MPI_BYTE,
                               MPI_COMM_WORLD, &request),
               "gathering");
    wait(request);
    std::vector<std::string> texts;
    for (int rank = 0; rank < size_; ++rank) texts.push_back(all.substr(offsets[rank], lengths[rank]));
    return texts;
  }

  void show_life(Doing doing) override {
    sign_.doing = std::max(sign_.doing, static_cast<int64_t>(doing));
    const bool beat = seconds_since(shown_) >= std::chrono::duration<double>(kBeat).count();
    for (Peer& peer : peers_) {
      hear(peer);
      if (beat) send(peer);
    }
    if (beat) {
      watch_->heard(rank_, sign_, seconds_now());
      shown_ = Clock::now();
      sign_.doing = static_cast<int64_t>(Doing::nothing);
    }
    if (lost_) return;
    const auto found = watch_->look(seconds_now());
    if (!found) return;
    const std::string text = fmt::format("[mpi] {} {}", names(found->ranks), found->text);
    if (found->ends) end_run(found->ranks.front(), text);
    if (options_.note) options_.note(text);
  }

 private:
  // Waits until all ranks are there, with no way to ask which one is not.
  void init() {
    const Deadline deadline(options_.stuck_seconds, [this] {
      if (options_.lost)
        options_.lost(
            fmt::format("[mpi] the ranks have not met within {:.0f} s: do all machines reach each other by "
                        "TCP, and does mpirun start the program on all of them?",
                        options_.stuck_seconds));
    });
    int provided = 0;
    const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    check(code == MPI_SUCCESS, "[mpi] MPI_Init failed: {}", [&] { return error_text(code); });
    check(provided >= MPI_THREAD_SERIALIZED, "[mpi] this Open MPI was built without threads: use Debian's");
  }

  // Who is where. All that is said goes to rank 0 or comes from it, as signs of life do: one that cannot be reached is
  // noticed.
  void meet() {
    for (int rank = 0; rank < size_; ++rank)
      if (rank != rank_ && (rank == 0 || rank_ == 0)) peers_.push_back({.rank = rank});
    for (Peer& peer : peers_) listen(peer);
    std::string all(static_cast<size_t>(size_ * kNameBytes), '\0');
    const auto place = [&](int rank) { return all.data() + static_cast<size_t>(rank) * kNameBytes; };
    fmt::format_to_n(place(rank_), kNameBytes - 1, "process {} on {}", ::getpid(), host_name());
    std::vector<MPI_Request> requests;
    const auto next = [&] { return &requests.emplace_back(MPI_REQUEST_NULL); };
    const auto wait_for_all = [&] {
      for (MPI_Request& request : requests) wait(request);
      requests.clear();
    };
    const auto send_to = [&](int rank, const char* text, int bytes) {
      check_code(MPI_Isend(text, bytes, MPI_BYTE, rank, kNameTag, MPI_COMM_WORLD, next()), "meeting");
    };
    const auto receive_from = [&](int rank, char* text, int bytes) {
      check_code(MPI_Irecv(text, bytes, MPI_BYTE, rank, kNameTag, MPI_COMM_WORLD, next()), "meeting");
    };
    if (rank_ != 0) send_to(0, place(rank_), kNameBytes);
    for (int from = 1; from < size_ && rank_ == 0; ++from) receive_from(from, place(from), kNameBytes);
    wait_for_all();
    if (rank_ != 0) receive_from(0, all.data(), size_ * kNameBytes);
    for (int to = 1; to < size_ && rank_ == 0; ++to) send_to(to, all.data(), size_ * kNameBytes);
    wait_for_all();
    sign_.done = 0;  // from here on all ranks do the same
    for (int rank = 0; rank < size_; ++rank) names_.push_back(fmt::format("rank {} ({})", rank, place(rank)));
  }

  std::string names(const std::vector<int>& ranks) const {
    constexpr size_t kMost = 4;
    std::vector<std::string> texts;
    for (size_t i = 0; i < std::min(ranks.size(), kMost); ++i)
      texts.push_back(names_.empty() ? fmt::format("rank {}", ranks[i]) : names_[ranks[i]]);
    if (ranks.size() > kMost) texts.push_back(fmt::format("{} more", ranks.size() - kMost));
    return fmt::format("{}", fmt::join(texts, " and "));
  }

  void listen(Peer& peer) {
    check_peer(MPI_Irecv(&peer.got, sizeof(SignOfLife), MPI_BYTE, peer.rank, kLifeTag, MPI_COMM_WORLD, &peer.receiving),
               peer);
  }

  void send(Peer& peer) {
    int done = 0;
    check_peer(MPI_Test(&peer.sending, &done, MPI_STATUS_IGNORE), peer);
    if (done == 0) return;  // the last one is still on its way
    peer.sent = sign_;
    check_peer(MPI_Isend(&peer.sent, sizeof(SignOfLife), MPI_BYTE, peer.rank, kLifeTag, MPI_COMM_WORLD, &peer.sending),
               peer);
  }

  void hear(Peer& peer) {
    int done = 0;
    while (check_peer(MPI_Test(&peer.receiving, &done, MPI_STATUS_IGNORE), peer), done != 0) {
      if (peer.got.lost >= 0 && !lost_) be_told(static_cast<int>(peer.got.lost));
      watch_->heard(peer.rank, peer.got, seconds_now());
      listen(peer);
    }
  }

  // By rank 0, which looks after all: the other ranks have no signs of life but its own.
  void be_told(int rank) {
    end_run(rank, fmt::format("[mpi] {} is lost or cannot go on, says rank 0; the same command goes on from the last "
                              "checkpoint",
                              names({rank})));
  }

  [[noreturn]] void end_run(int rank, const std::string& text) {
    lost_ = true;
    tell_others(rank);
    if (options_.lost) options_.lost(text);
    throw Error(text, ErrorKind::io);
  }

  // As far as they can be reached; others will notice by themselves.
  void tell_others(int lost) {
    SignOfLife sign = sign_;
    sign.lost = lost;
    const auto sent = [](Peer& peer) {
      int done = 0;
      return MPI_Test(&peer.sending, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
    };
    for (Peer& peer : peers_) {
      if (!sent(peer)) continue;
      peer.sent = sign;
      MPI_Isend(&peer.sent, sizeof(SignOfLife), MPI_BYTE, peer.rank, kLifeTag, MPI_COMM_WORLD, &peer.sending);
    }
    for (const auto begun = Clock::now(); seconds_since(begun) < kFarewell; ::usleep(10'000))
      for (Peer& peer : peers_) sent(peer);
  }

  // Of something between this rank and one other.
  void check_peer(int code, const Peer& peer) {
    if (code == MPI_SUCCESS) return;
    const std::string text = fmt::format(
        "[mpi] {} cannot be reached any more: {}; the same command goes on from the "
        "last checkpoint",
        names({peer.rank}), error_text(code));
    if (lost_) throw Error(text, ErrorKind::io);
    end_run(peer.rank, text);
  }

  // Of something between all: where it fails the signs of life, or their end, say soon whom that is due to.
  void check_code(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    for (const auto begun = Clock::now(); !lost_ && seconds_since(begun) < kExplanation; ::usleep(10'000))
      show_life(Doing::waiting);
    fail(ErrorKind::io, "[mpi] {} failed: {}: has another rank ended?", what, error_text(code));
  }

  bool is_done(MPI_Request& request) {
    int done = 0;
    check_code(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "communication");
    return done != 0;
  }

  // For what is small or rare: the thread that calls shows life itself meanwhile.
  void wait(MPI_Request& request) {
    for (Patience patience; !is_done(request); show_life(Doing::waiting)) patience.wait();
    ++sign_.done;
  }

  CommunicatorOptions options_;
  int rank_ = 0, size_ = 1;
  std::vector<std::string> names_;  // of all ranks: number, process and host; empty until they have met
  std::vector<Peer> peers_;         // of rank 0 all others, of the others rank 0
  SignOfLife sign_;                 // the next one
  std::optional<RankWatch> watch_;
  Clock::time_point shown_;
  bool lost_ = false;
};

}  // namespace
}  // namespace limpid

extern "C" limpid::Communicator* limpid_join_mpi(const limpid::CommunicatorOptions& options) {
  return new limpid::MpiCommunicator(options);
}

extern "C" const char* limpid_mpi_version() { return LIMPID_MPI_SOURCES; }
