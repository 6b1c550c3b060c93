#pragma once
// What a config speaks of against what the files beside it hold.

#include <string_view>

#include "models/config.h"

namespace limpid {

// Before anything is built: a config may say anything, and every layer, head and expert takes memory. An Error, which
// begins with `where`, unless files of so many tensors and bytes can hold such a model.
void check_files_hold(const Config& config, int64_t tensors, int64_t bytes, std::string_view where);

}  // namespace limpid
