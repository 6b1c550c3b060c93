#pragma once
// A ladder of model sizes that train well on an ordinary machine, and the [model] of a recipe for each rung and family.

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace limpid {

struct Rung {
  int64_t width = 0;
  int64_t layers = 0;  // of each stack
  int64_t heads() const { return width >= 384 ? width / 64 : width / 32; }
};

std::span<const Rung> model_ladder();  // smallest first

bool has_ladder(const std::string& model_type);  // the usual families; others train too, in sizes that somebody says

// Weights of the blocks: embeddings and output left out. Of an encoder-decoder both stacks.
struct RungSize {
  double encoder = 0, decoder = 0;
  double total() const { return encoder + decoder; }
};
RungSize rung_size(const std::string& model_type, const Rung& rung);

// The keys of the family's config.json. An Error where the family has no ladder.
nlohmann::ordered_json rung_model(const std::string& model_type, const Rung& rung, int64_t positions, double dropout);

}  // namespace limpid
