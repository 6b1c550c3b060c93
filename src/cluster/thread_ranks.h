#pragma once
// Ranks that are threads of one process, for tests: the same calls as between machines, without MPI.

#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "cluster/courier.h"

namespace limpid {

// Where the threads meet: everybody brings bytes for everybody.
class MeetingPlace {
 public:
  explicit MeetingPlace(int ranks) : ranks_(ranks) {}
  int ranks() const { return ranks_; }

  // What all ranks have brought to this meeting, by rank.
  std::vector<std::vector<std::string>> meet(int rank, std::vector<std::string> for_each) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !leaving_; });
    brought_.resize(ranks_);
    brought_[rank] = std::move(for_each);
    if (++present_ == ranks_) leaving_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return leaving_; });
    std::vector<std::vector<std::string>> result = brought_;
    if (--present_ == 0) leaving_ = false;
    changed_.notify_all();
    return result;
  }

 private:
  int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<std::string>> brought_;
  int present_ = 0;
  bool leaving_ = false;
};

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(MeetingPlace& place, int rank) : place_(place), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return place_.ranks(); }

  std::unique_ptr<Transfer> start_exchange(const real* from, const RankBlocks& sent, real* to,
                                           const RankBlocks& received) override {
    std::vector<std::string> mine;
    for (int r = 0; r < size(); ++r) mine.push_back(bytes_of(from + sent.offsets[r], sent.counts[r]));
    const auto all = place_.meet(rank_, std::move(mine));
    for (int r = 0; r < size(); ++r) put(all[r][rank_], to + received.offsets[r], received.counts[r]);
    return std::make_unique<Transfer>();
  }
  std::unique_ptr<Transfer> start_gather(real* numbers, const RankBlocks& blocks, int to) override {
    const auto all = place_.meet(rank_, {bytes_of(numbers + blocks.offsets[rank_], blocks.counts[rank_])});
    if (to == kAll || to == rank_)
      for (int r = 0; r < size(); ++r) put(all[r][0], numbers + blocks.offsets[r], blocks.counts[r]);
    return std::make_unique<Transfer>();
  }
  bool test(Transfer&) override { return true; }
  void broadcast(std::span<std::byte> bytes) override {
    const auto all = place_.meet(rank_, {std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
    check(all[0][0].size() == bytes.size(), "[ranks] rank 0 sends {} bytes, rank {} awaits {}", all[0][0].size(), rank_,
          bytes.size());
    std::memcpy(bytes.data(), all[0][0].data(), bytes.size());
  }
  std::vector<std::string> gather(const std::string& mine) override {
    std::vector<std::string> result;
    for (auto& one : place_.meet(rank_, {mine})) result.push_back(one[0]);
    return result;
  }
  void show_life(Doing) override {}

 private:
  static std::string bytes_of(const real* numbers, int count) {
    return {reinterpret_cast<const char*>(numbers), sizeof(real) * static_cast<size_t>(count)};
  }
  static void put(const std::string& bytes, real* numbers, int count) {
    check(bytes.size() == sizeof(real) * static_cast<size_t>(count), "[ranks] {} bytes came, {} numbers were awaited",
          bytes.size(), count);
    if (count > 0) std::memcpy(numbers, bytes.data(), bytes.size());
  }

  MeetingPlace& place_;
  int rank_;
};

// Calls body on as many ranks at once; what one throws is thrown here, after all have ended.
inline void on_ranks(int ranks, const std::function<void(Courier&)>& body) {
  MeetingPlace place(ranks);
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(ranks);
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        Courier courier(ranks == 1 ? make_lone_communicator() : std::make_unique<ThreadCommunicator>(place, rank));
        body(courier);
      } catch (...) {
        errors[rank] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace limpid
