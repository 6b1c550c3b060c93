#pragma once
// Which type each matrix of a model gets under a name such as Q4_K_M: llama.cpp's mixes. Matrices that matter more get
// more bits (the output layer, values, the way back of the feed-forward network in the first and last eighth of the
// layers and every third between), and rows that are no multiple of a block's 256 numbers the nearest type of 32.

#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"

namespace limpid {

// "Q4_K_M", "Q8_0", …: the names that are known.
const std::vector<std::string>& quantize_mixes();

// The type of each weight of the model, in the order of visit_parameters; F32 where it stays.
std::vector<DType> mixed_types(const Model& model, std::string_view mix);

// Norms, biases, positions, segments, routers: what is never quantised.
bool stays_plain(const Weight& weight, const Config& config);

// Whether a matrix has inputs in rows, as GPT-2 keeps some.
bool is_turned(const Weight& weight, const Config& config);

}  // namespace limpid
