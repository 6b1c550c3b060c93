#pragma once
// Whether two configs say the same of a model's mathematics.

#include <string>

#include "models/config.h"

namespace limpid {

// What the first has and the second has not, for people to read ("its activation"); empty: they compute the same.
// What an encoder ends in, tokens, dropout and how weights are stored do not count.
std::string config_difference(const Config& one, const Config& other);

}  // namespace limpid
