#pragma once
#include <string>

namespace limpid {

// Version, build, and the instruction set that the kernels use on this machine.
std::string version_text();

}  // namespace limpid
