#pragma once
// Holds a model of any family against a case computed by Hugging Face's own code: a folder with config.json,
// model.safetensors and case.safetensors, which has for texts i = 0, 1, … ids.i, logits.i, hidden.i (the last vectors
// of a model without a head), pooled.i, hidden_states.i.L; of encoder-decoders source.i, target.i, logits.i, encoder.i,
// encoder_hidden_states.i.L, decoder_hidden_states.i.L. L = 0 enters the first layer.

#include "app/verify_case.h"

namespace limpid {

inline constexpr double kReferenceTolerance = 5e-5;  // of a logit or hidden value, some times the noise of float32

bool is_reference_case(const std::filesystem::path& folder);
CaseReport verify_reference(const std::filesystem::path& folder);

}  // namespace limpid
