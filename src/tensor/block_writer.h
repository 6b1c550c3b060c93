#pragma once
// Numbers to the block types of GGUF (tensor/block_types.h): the way back of read_sub_block.
//
// Factors and minima of groups are searched for one by one (tensor/block_fit.h). Where a block keeps them as small
// integers s and t times a D and an M of its own, D and M begin so that the largest fits; then in turns s and t of each
// group are moved to the neighbours with the least squared error, and D and M are fitted to what was found.

#include "tensor/block_types.h"

namespace limpid {

// One block: block_type(type)->numbers finite numbers to ->bytes bytes.
void write_block(DType type, const float* numbers, std::byte* out);

}  // namespace limpid
