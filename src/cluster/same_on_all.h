#pragma once
// What has to be the same on all ranks before they may work together.

#include <string>
#include <utility>
#include <vector>

#include "cluster/courier.h"

namespace limpid {

using NamedFacts = std::vector<std::pair<std::string, std::string>>;  // what, and its value

// One line for each rank whose facts are not those of rank 0, with its host and what differs; the same on all ranks.
std::vector<std::string> differences_between_ranks(Courier& courier, const NamedFacts& facts);

// An Error on all ranks where there are such.
void check_same_on_all(Courier& courier, const NamedFacts& facts);

}  // namespace limpid
