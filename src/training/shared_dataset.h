#pragma once
// The dataset of a run on one or several ranks.

#include "cluster/courier.h"
#include "training/trainer.h"

namespace limpid {

// Rank 0 prepares it in the folder, the others open it there. An Error, before anything is prepared, where the ranks
// differ in the program, the recipe or the texts; where they differ in the instruction set the observer is told.
Dataset shared_dataset(const Recipe& recipe, const std::filesystem::path& folder, TrainingObserver& observer,
                       Courier& ranks, const NamedFacts& program);

}  // namespace limpid
