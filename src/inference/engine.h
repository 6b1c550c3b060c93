#pragma once
// Engine: many texts on one model at once. Texts join and leave at any step; each comes out as if it had been alone.
//
//   Engine engine(model, {.memory = 1 << 30});
//   const int64_t number = engine.add(make_search(…));   // waits for its turn
//   while (engine.step()) {}                             // one more token for every text that runs
//
// Memory: what texts keep between steps (keys and values, recurrent states, encoder outputs) and the scores of a step.
// Before a text begins, the most it can come to need is set aside for it; a text waits, first come first served, until
// that fits into the bound. So the bound holds without ever throwing out a text that has begun. What a step needs for a
// moment besides is bounded by `max_prefill_tokens`.
//
// Language models remember what they have read of texts that have ended, as far as memory is left, and a text that
// begins like another, running or remembered, does not read that beginning again.
//
// Texts run in lanes. The first lane has all threads to itself while it has room: so a few texts are as quick as can
// be. Further texts open another lane, as long as there are threads; then the lanes take their steps side by side, a
// thread each, and threads wait for one another once per step instead of once per product.
//
// One thread uses an engine; results come on that thread, from within step() and cancel(). Whoever gets one may add
// texts.

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "inference/decoder_state.h"
#include "inference/generation_task.h"
#include "inference/step_cost.h"

namespace limpid {

struct EngineOptions {
  using Clock = std::chrono::steady_clock;
  int64_t max_batch = 64;             // in a lane
  int64_t memory = 0;                 // bytes; 0: no bound
  int64_t max_prefill_tokens = 4096;  // of prompts that a lane reads in one step; longer ones are read in several
  // Time that a step should take at most, so that texts that are being written do not wait for long prompts of others:
  // as many tokens of prompts are read as fit beside the generation, by what the steps before have taken
  // (inference/step_cost.h); where the generation alone takes all of it, few are read, some steps apart. 0:
  // max_prefill_tokens alone decides.
  double step_seconds = 0;
  int64_t prefix_memory = 64 << 20;  // bytes for what is remembered, within `memory`
  std::function<Clock::time_point()> now = Clock::now;
};

struct EngineMemory {
  int64_t used = 0;       // now, what is remembered included
  int64_t most_used = 0;  // ever
  int64_t set_aside = 0;  // for the texts that run
  int64_t remembered = 0;
};

class Engine {
 public:
  using Clock = EngineOptions::Clock;

  // The model must outlive the engine.
  Engine(const Model& model, EngineOptions options);

  // Lets a text wait for its turn; returns its number. Throws where it could never fit into the memory.
  int64_t add(std::unique_ptr<GenerationTask> task, std::optional<Clock::time_point> deadline = std::nullopt);
  // One more token for every text that runs, after ending what is overdue and beginning what fits. False: none is left.
  bool step();
  // Ends a text that waits or runs; its memory is free at once. False: there is no such text any more.
  bool cancel(int64_t number);

  bool has(int64_t number) const;    // whether the text waits or runs
  bool waits(int64_t number) const;  // for its turn
  int64_t running() const;
  int64_t texts_of_step() const { return texts_of_step_; }  // that the last step worked on; 0: it found nothing to do
  int64_t waiting() const { return static_cast<int64_t>(waiting_.size()); }
  EngineMemory memory() const;
  int64_t reused_tokens() const;  // that a beginning in common saved from being read

 private:
  struct Text {
    int64_t number = 0;
    std::unique_ptr<GenerationTask> task;
    std::optional<Clock::time_point> deadline;
    int64_t bytes = 0;  // that it can come to need
    int64_t rows = 0;
  };

  struct Lane {
    std::unique_ptr<DecoderState> state;
    std::vector<Text> texts;    // in the order of the state's rows
    std::vector<int32_t> ids;   // the next token of each row
    std::vector<Text> coming;   // begin with the next step
    std::vector<Text> reading;  // whose prompts are not read to the end, in the order of the state's unread texts
    int64_t owed = 0;           // tokens of prompts that writing has kept from being read
    StepWork work;              // of the last step
    double seconds = 0;         // that it took

    bool idle() const { return texts.empty() && coming.empty() && reading.empty(); }
    void begin(std::vector<Text> begun);
    int64_t prompt_tokens(const EngineOptions& options, const StepCost& cost);
    void read(int64_t tokens);
    void write();
    void step(const EngineOptions& options, const StepCost& cost);
    Text take(size_t index);
    Text take_reading(size_t index);
  };

  int64_t bytes_for(const GenerationTask& task) const;
  bool take_step();
  void end_overdue();
  void begin_waiting();
  void choose_for(Lane& lane);
  bool fits(const Text& text) const;
  template <class Condition>
  std::optional<Text> take_first(Lane& lane, const Condition& condition);
  void go_on(Lane& lane);
  void make_room();
  int64_t used() const;

  const Model& model_;
  EngineOptions options_;
  std::deque<Text> waiting_;
  std::vector<Lane> lanes_;      // at least one
  std::vector<StepCost> costs_;  // of a lane's step where one lane has all threads, where two share them, …
  int64_t set_aside_ = 0, most_used_ = 0;
  int64_t added_ = 0, texts_of_step_ = 0;
};

}  // namespace limpid
