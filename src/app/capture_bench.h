#pragma once
// What looking costs: a model over random texts without a probe, with an empty one, and with taps captured to disk, in
// turns; and what an empty probe costs a step of training and a written token.

#include <nlohmann/json.hpp>

#include <string>

namespace limpid {

struct CaptureBench {
  std::string model, tap = "*.ffn.post";
  std::string folder = ".";  // where the captured numbers go; removed afterwards
  int64_t tokens = 256, texts = 8;
  int rounds = 5;
};
// tokens_per_second of the three, of_plain (capture), empty_of_plain, training_empty_of_plain and
// decoding_empty_of_plain as ratios of the best rounds (decoding: their median); memory_mb after one text was captured
// and after all rounds: what a longer corpus adds.
nlohmann::ordered_json bench_capture(const CaptureBench& options);

}  // namespace limpid
