#pragma once
// The table of a model's parameters by what they are for, counted from the shapes alone: no weight need have its
// numbers.

#include <nlohmann/json.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "models/model.h"

namespace limpid {

inline constexpr std::array<ParameterRole, 7> kParts = {
    ParameterRole::embedding, ParameterRole::position,  ParameterRole::attention, ParameterRole::feed_forward,
    ParameterRole::norm,      ParameterRole::recurrent, ParameterRole::output};
std::string_view part_name(ParameterRole role);  // "embedding", "positions", …

struct ParameterTable {
  struct Count {
    int64_t weights = 0;  // matrices, and the gains of norms
    int64_t biases = 0;
    int64_t total() const { return weights + biases; }
  };
  std::array<Count, kParts.size()> parts;  // in the order of kParts

  const Count& of(ParameterRole role) const;
  int64_t total() const;
  // What papers and talks count: without norms, positions and biases.
  int64_t matrices() const;
};

// What is kept but not learned (the statistics of batch norm) does not count. A tied matrix counts once, where it is
// visited.
ParameterTable parameter_table(const Model& model);
ParameterTable parameter_table(std::span<const Weight> weights);

// Aligned columns for a terminal, and the same as JSON. Parts that a model does not have are left out.
std::string to_text(const ParameterTable& table);
nlohmann::ordered_json to_json(const ParameterTable& table);

std::string with_separators(int64_t count);  // "175,181,291,520"

}  // namespace limpid
