#pragma once
// Cancellation: how long work is broken off once nobody wants what comes of it. Whoever begins it says how to tell, in
// a scope around the work; the work asks between its steps. Every pass of a model and every parallel_for asks by
// itself, so that what is made of these needs no word of its own. Nothing is asked without a scope.
//
//   const CancellationScope scope([&] { if (client_has_left()) fail(ErrorKind::cancelled, "…"); });
//   embed(model, texts);   // throws within milliseconds

#include <functional>

namespace limpid {

// While it lives, check_cancelled() on this thread calls the function, which throws where the work is to end. Scopes
// nest; the innermost counts.
class CancellationScope {
 public:
  explicit CancellationScope(std::function<void()> check);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

 private:
  friend void check_cancelled();
  const std::function<void()> check_;
  CancellationScope* const before_;
};

void check_cancelled();

}  // namespace limpid
