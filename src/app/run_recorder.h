#pragma once
// What a training run records of itself for the page.

#include <cstdint>
#include <filesystem>
#include <functional>

#include "models/model.h"
#include "training/dataset.h"

namespace limpid {

// Records attention and lens of a sentence at every validation (inspect/run_recording.h). A recording that cannot be
// written does not end a run.
std::function<void(const Model& model, const Dataset& dataset, int64_t step)> run_recorder(
    std::filesystem::path folder);

}  // namespace limpid
