#pragma once
// Causal tracing (Meng et al. 2022, "Locating and Editing Factual Associations in GPT"): a text is run clean, and again
// with its subject made unrecognisable; then, in the corrupted run, one vector at a time gets its clean value back.
// Where that brings the answer back, the fact passes through.
//
// Corrupted means noise on the embeddings of some tokens, several draws averaged; or another text of the same length.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "inspect/session.h"

namespace limpid {

struct TraceOptions {
  std::string side = {};              // of two-sided models: "encoder" or "decoder" (default): whose vectors
  std::vector<int64_t> subject = {};  // positions on that side that get noise
  double noise = 3;                   // standard deviation, in standard deviations of the embedding table's numbers
  const Example* other = nullptr;     // instead of noise: a text of as many tokens
  int64_t samples = 10;               // draws of the noise
  uint64_t seed = 1;
  int64_t position = -1;  // after which token the answer stands
  int32_t answer = 0;
  int64_t window = 1;  // layers given back together, around each (Meng et al. use 10 of 48)
};

struct TraceMap {
  std::string name;                 // "resid_post", "attn_out", "ffn_out", …: the tap in each block
  std::vector<std::string> taps;    // by layer, the middle of the window
  std::vector<double> probability;  // (layers, positions): of the answer, once this vector is clean again
};

struct Trace {
  double clean = 0, corrupted = 0;  // probability of the answer
  double deviation = 0;             // of the noise, as a number; 0: none
  int64_t positions = 0;
  std::vector<TraceMap> maps;

  // What giving back does: 0 nothing, 1 all that was lost.
  double restored(const TraceMap& map, int64_t layer, int64_t position) const;
};

// `progress` is told the share done, 0 … 1.
Trace causal_trace(const Model& model, const Example& example, const TraceOptions& options,
                   const std::function<void(double)>& progress = {});

// The taps that are traced in each block: residual stream, attention's outputs, network's; of recurrent models h.
std::vector<std::string> traced_names(const Config& config, const std::string& side);

}  // namespace limpid
