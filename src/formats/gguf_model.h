#pragma once
// Models from GGUF files: the families of Llama and GPT-2.

#include "formats/gguf.h"
#include "formats/weight_holder.h"
#include "models/model.h"

namespace limpid {

// The config that Hugging Face would write, from the keys of the file. What Limpid does not compute is an Error.
Config gguf_config(const GgufFile& file);

// Lets the model's weights point into the file, matrices as they are stored (F64, F32, F16, BF16, Q8_0, Q4_0); rows of
// Llama's queries and keys are copied in our order. The file must outlive the model's use.
void attach_gguf(const GgufFile& file, Model& model, WeightHolder& holder);

}  // namespace limpid
