#pragma once
// Directions in a model's space, named in a few letters: along what to steer, what a rank-one edit is made of.
//
//   token:basketball      the row of the output layer that scores this token
//   embed:basketball      its embedding (encoder-decoder models: of the side that writes)
//   npy:direction.npy     a vector in NumPy's format, float32 or float64
//   texts:A|B             the mean over text A's positions at a tap, less that over B's; texts:A is the mean alone

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/session.h"

namespace limpid {

// `tap`: where texts are captured; empty: texts have no meaning here.
std::vector<double> read_direction(const Session& session, std::string_view text, const std::string& tap = "");

std::vector<double> read_npy_vector(const std::filesystem::path& path);

}  // namespace limpid
