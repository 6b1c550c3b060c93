#pragma once
// Mutations that keep an input's outer form, so that they reach what lies behind it: JSON stays JSON, a safetensors
// file keeps the length of its header, the fields of a protobuf message and of a GGUF file keep theirs, and words of
// four or eight bytes take the values at which sizes and offsets break.

#include <cstdint>
#include <string>

#include "fuzz/readers.h"

namespace limpid::fuzz {

// Another input made from this one; the same seed makes the same one.
std::string mutate(const std::string& input, Shape shape, uint64_t seed);

}  // namespace limpid::fuzz
