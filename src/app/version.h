#pragma once
#include <string>

#include "cluster/same_on_all.h"

namespace limpid {

// Version, build, and the instruction set that the kernels use on this machine.
std::string version_text();

// What the program was made from, which is to be the same on all ranks of a run.
NamedFacts program_facts();

}  // namespace limpid
