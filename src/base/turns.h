#pragma once
// Turns: how work that people wait for at every moment (a step of an engine, which writes for many) and work that may
// take a little longer (looking inside a model) share the threads of parallel_for.
//
// Foreground work has all threads for as long as it takes. Background work is cut: its loops are handed out a few
// milliseconds at a time, and between two pieces of foreground work it gets a share of the time that the last one took.
// So foreground work is never slowed down by more than that share, and background work goes on all the same. Where
// there is no foreground work, nothing waits.

#include <cstdint>
#include <functional>

namespace limpid {

// While it lives the calling thread is at foreground work. Pieces of several threads come one after another, in the
// order in which they asked. Not to be nested.
class ForegroundWork {
 public:
  ForegroundWork();
  ~ForegroundWork();
  ForegroundWork(const ForegroundWork&) = delete;
  ForegroundWork& operator=(const ForegroundWork&) = delete;
};

// From now on every parallel_for of the calling thread is background work.
void work_in_background();
bool works_in_background();

// While it lives, loops of the calling thread take no turns, though it works in the background: for what is made once
// and foreground work may wait for, which would wait for ever if its turn had to end first.
class WithoutTurns {
 public:
  WithoutTurns();
  ~WithoutTurns();
  WithoutTurns(const WithoutTurns&) = delete;
  WithoutTurns& operator=(const WithoutTurns&) = delete;

 private:
  const bool before_;
};

// Calls part(begin, end) on ranges that cover [0, count), each in a turn of its own and of such a size that it takes
// about a millisecond; `least` at a time.
void take_turns(int64_t count, int64_t least, const std::function<void(int64_t, int64_t)>& part);

}  // namespace limpid
