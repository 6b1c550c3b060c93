#pragma once
// The beam as a tree: every continuation that a search looked at, which of them it kept, and the hypotheses that came
// out. The search itself is inference/beam_search.h.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "inference/beam_search.h"
#include "inspect/session.h"

namespace limpid {

struct BeamNode {
  enum class State { kept, dropped, finished, open };
  int64_t parent = -1;  // -1: the beginning
  int64_t step = 0;     // tokens up to here
  int32_t id = -1;
  double log_probability = 0;        // of everything up to here
  double token_log_probability = 0;  // of this token after its parent
  State state = State::dropped;      // open: cut off where the search ended
};

struct BeamTreeOptions {
  BeamOptions search{.beam = 4};
  TokenRules rules = {};
  std::vector<int32_t> prefix = {};  // encoder-decoder models: what the text begins with, not part of the tree
};

struct BeamTree {
  std::vector<BeamNode> nodes;  // the beginning first, parents before children
  struct Found {
    Hypothesis hypothesis;
    int64_t node = 0;
    bool ended = false;
  };
  std::vector<Found> found;  // best first
};

// The tokens that end a text, by the model's files.
std::vector<int32_t> ends_of(const Session& session);

BeamTree grow_beam(const Model& model, const Example& example, const BeamTreeOptions& options);
nlohmann::ordered_json beam_json(const Tokenizer& tokenizer, const BeamTree& tree, const BeamTreeOptions& options);

}  // namespace limpid
