#pragma once
// The names that GGUF has for the weights of the families that it knows.

#include <string>
#include <string_view>

#include "models/config.h"

namespace limpid {

// GGUF's name for one of ours: the number of the block and ".weight" or ".bias" stay. Empty: GGUF leaves this
// weight out. A name that GGUF does not have is an Error.
std::string gguf_name(const Config& config, std::string_view ours);

// Whether rotary positions turn the rows of this weight of a Llama, which GGUF keeps in another order than we.
bool is_permuted_in_gguf(const Config& config, std::string_view ours);

}  // namespace limpid
