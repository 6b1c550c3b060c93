#include "cluster/rank_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace limpid {
namespace {

// Seconds. Ranks look ten times per second and show life once.
constexpr double kAway = 3, kNoteworthy = 2.5;

constexpr const char* kResume = "the same command goes on from the last checkpoint";

}  // namespace

RankWatch::RankWatch(int rank, int size, Limits limits, double now)
    : rank_(rank), limits_(limits), all_(size), looked_(now), moved_(now) {
  count_anew(now);
}

void RankWatch::count_anew(double now) {
  for (Other& other : all_) other.heard = other.worked = now;
  moved_ = idle_ = now;
}

void RankWatch::heard(int rank, const SignOfLife& sign, double now) {
  Other& other = all_[rank];
  if (sign.done != other.sign.done) moved_ = now, noted_ = false;
  if (sign.doing != static_cast<int64_t>(Doing::nothing)) other.worked = now;
  other.sign = sign;
  other.heard = now;
  other.met = true;
  other.noted = false;
}

std::optional<RankWatch::Finding> RankWatch::look(double now) {
  if (now - looked_ > kAway) count_anew(now);
  looked_ = now;
  for (int rank = 0; rank < std::ssize(all_); ++rank)
    if (auto found = watches(rank) ? look_at(rank, now) : std::nullopt) return found;
  return rank_ == 0 ? look_at_all(now) : std::nullopt;
}

std::optional<RankWatch::Finding> RankWatch::look_at(int rank, double now) {
  Other& other = all_[rank];
  const double silent = now - other.heard, idle = now - other.worked;
  if (!other.met && silent > limits_.stuck)
    return Finding{{rank},
                   fmt::format("has not answered within {:.0f} s: do all machines reach each other by TCP?", silent)};
  if (other.met && silent > limits_.silent)
    return Finding{{rank},
                   fmt::format("has not been heard of for {:.0f} s: its machine, its network or the process has "
                               "failed; {}",
                               silent, kResume)};
  if (other.met && idle > limits_.stuck)
    return Finding{{rank},
                   fmt::format("has been stuck for {:.0f} s: it neither computes nor waits for others; is its disk "
                               "gone? {}",
                               idle, kResume)};
  if (other.met && !other.noted && silent > std::max(limits_.silent / 2, kNoteworthy)) {
    other.noted = true;
    return Finding{{rank}, fmt::format("has not been heard of for {:.0f} s", silent), false};
  }
  return std::nullopt;
}

std::optional<RankWatch::Finding> RankWatch::look_at_all(double now) {
  std::vector<int> working, behind;
  size_t waiting = 0;
  for (int rank = 0; rank < std::ssize(all_); ++rank) {
    const SignOfLife& sign = all_[rank].sign;
    if (sign.doing == static_cast<int64_t>(Doing::working)) working.push_back(rank);
    if (sign.doing == static_cast<int64_t>(Doing::waiting)) ++waiting;
    if (!behind.empty() && sign.done < all_[behind.front()].sign.done) behind.clear();
    if (behind.empty() || sign.done == all_[behind.front()].sign.done) behind.push_back(rank);
  }
  if (waiting < all_.size()) idle_ = now;
  const double still = now - moved_;
  if (now - std::max(moved_, idle_) > limits_.stuck)
    return Finding{behind,
                   fmt::format("cannot go on: for {:.0f} s all ranks have waited for each other and nothing has come "
                               "through; is the network between some machines cut? {}",
                               still, kResume)};
  if (noted_ || still < limits_.stuck || working.empty() || waiting == 0) return std::nullopt;
  noted_ = true;
  return Finding{working, fmt::format("still computes or writes: others have waited for that for {:.0f} s", still),
                 false};
}

}  // namespace limpid
