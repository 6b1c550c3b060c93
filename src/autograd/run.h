#pragma once
// Run: the context of one step or request. Tape or none, probe or none, arena, random numbers, scope of names. Models
// are const and shared; whatever differs from one forward pass to the next is here.

#include <span>
#include <string>
#include <string_view>

#include "autograd/probe.h"
#include "autograd/tape.h"
#include "kernels/dropout.h"
#include "tensor/key_value_cache.h"

namespace limpid {

class Run {
 public:
  struct Options {
    Arena arena = {};
    Tape* tape = nullptr;            // records for a backward pass
    Probe* probe = nullptr;          // looks inside
    KeyValueCache* cache = nullptr;  // keys and values of tokens read before; not together with a tape
    bool train = false;              // dropout, and batch norm by the batch's own statistics
    uint64_t seed = 0;               // random numbers are a function of seed, step and place
    uint64_t step = 0;
  };

  explicit Run(Options options);

  const Arena& arena() const { return options_.arena; }
  Tape* tape() const { return options_.tape; }
  KeyValueCache* cache() const { return options_.cache; }
  bool train() const { return options_.train; }

  // A value to be filled in; with a place for its gradient where a tape records and something below wants one.
  Tensor make(int64_t rows, int64_t cols, bool needs_gradient) const;
  // Whether an operation on these has anything to record. Ask with all its weights, before it records: the tape learns
  // from it when their gradients are complete.
  bool records(std::initializer_list<const Tensor*> inputs, std::initializer_list<const Weight*> weights = {}) const;
  bool records(std::span<const Weight* const> weights) const;

  // Dropout of the next place in this pass. None unless training.
  Dropout dropout(double rate);

  // Names the values tapped until the scope ends: run.scope("decoder.3").
  class Scope {
   public:
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    friend class Run;
    Scope(Run* run, size_t length) : run_(run), length_(length) {}
    Run* run_;  // null: no probe, nothing to name
    size_t length_;
  };
  [[nodiscard]] Scope scope(std::string_view name);

  // Shows the value to the probe and goes on with what it returns.
  Tensor tap(std::string_view name, Tensor value, const TapLayout& layout = {}) {
    return options_.probe ? show(name, std::move(value), layout) : value;
  }
  // Whether the probe wants this value: where it costs something to have it.
  bool watched(std::string_view name) const;
  bool observed() const { return options_.probe != nullptr; }

 private:
  Tensor show(std::string_view name, Tensor value, const TapLayout& layout);

  Options options_;
  std::string prefix_;
  uint64_t place_ = 0;
};

}  // namespace limpid
