#pragma once
// Recurrent layers (GRU, LSTM), stacked, in one direction or two. They go token by token: step t takes token t of every
// sequence that has one. Sequences are ordered from the longest to the shortest, so that those still running are always
// the first rows, and nothing is padded.

#include <optional>

#include "layers/linear.h"

namespace limpid {

// The tokens of a ragged batch in the order in which a recurrent network takes them: all first tokens, all second ones,
// …
struct TimeOrder {
  explicit TimeOrder(const Sequences& sequences);

  std::vector<int32_t> order;         // sequences, longest first (ties as they stand)
  std::vector<int64_t> running;       // rows of each step: how many sequences are still running
  std::vector<int64_t> begin;         // of each step's rows, and the end of the last
  std::vector<int32_t> token_of_row;  // which token of the batch each row is
  std::vector<int32_t> row_of_token;  // and back
  std::vector<int32_t> reversed;      // the row that holds the same sequence's token counted from its end

  int64_t steps() const { return static_cast<int64_t>(running.size()); }
};

enum class CellKind { gru, lstm };

// What a layer carries from step to step, one row per sequence. An LSTM has a cell besides.
struct RecurrentState {
  Tensor h, c;
  RecurrentState first(int64_t sequences) const;  // of those still running
};

// How a step's taps are to be read.
struct StepLayout {
  Sequences rows;  // one token each
  const std::vector<int32_t>* order = nullptr;
  int64_t step = 0;
  TapLayout tap() const { return {.rows = &rows, .order = order, .step = step}; }
};

// One direction of one layer.
class RecurrentCell {
 public:
  RecurrentCell() = default;
  // Parameters are named as in PyTorch: prefix.weight_ih_l0, …; suffix is "l0", "l0_reverse", …
  RecurrentCell(CellKind kind, const std::string& prefix, const std::string& suffix, int64_t inputs, int64_t hidden);

  Tensor project(Run& run, const Tensor& x) const { return input_.forward(run, x); }  // the part that needs no state
  RecurrentState step(Run& run, const Tensor& projected, const RecurrentState& before, const StepLayout& layout) const;
  RecurrentState zero(Run& run, int64_t sequences) const;
  void visit(const WeightVisitor& visitor);

 private:
  CellKind kind_ = CellKind::gru;
  int64_t hidden_ = 0;
  Linear input_, state_;
};

struct RecurrentOptions {
  CellKind cell = CellKind::gru;
  int64_t inputs = 0;
  int64_t hidden = 0;
  int64_t layers = 1;
  bool bidirectional = false;
  double dropout = 0;  // between layers
};

// A stack of layers over whole sequences: an encoder.
class Recurrent {
 public:
  Recurrent() = default;
  Recurrent(const std::string& prefix, const RecurrentOptions& options);

  struct Result {
    Tensor outputs;                    // (rows in time order, hidden or 2·hidden) of the top layer
    std::vector<RecurrentState> last;  // by layer, of the last direction; one row per sequence, in TimeOrder's order
  };
  Result forward(Run& run, Tensor x, const TimeOrder& time) const;  // x: rows in time order
  void visit(const WeightVisitor& visitor);

 private:
  std::pair<Tensor, RecurrentState> direction(Run& run, const RecurrentCell& cell, const Tensor& x,
                                              const TimeOrder& time) const;

  RecurrentOptions options_;
  std::vector<RecurrentCell> cells_;  // layer by layer, forward then backward
};

}  // namespace limpid
