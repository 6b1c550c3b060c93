#pragma once
// A model in another precision: its matrices quantised or converted, everything else in float32.

#include "formats/weight_holder.h"
#include "models/model.h"

namespace limpid {

struct QuantizeOptions {
  int bits = 8;           // of a number: 32 (F32), 16 (F16), 8 or 4
  int output_bits = 0;    // of the matrix that gives the scores of words, an embedding that serves as it included;
                          // 0: 8 where bits is 4, else bits
  std::string mix = {};   // "Q4_K_M" (formats/quantize_mix.h): instead of bits
  bool for_gguf = false;  // types that GGUF has: 8 bits in blocks of 32 (Q8_0) instead of one scale per output (q8)
};

struct QuantizedModel {
  std::unique_ptr<Model> model;  // its matrices have outputs in rows
  std::shared_ptr<WeightHolder> weights;
};

// What a weight of the model becomes. Vectors, norms and positions stay F32. Rows that are no whole number of blocks
// of 32 become q8 instead of q4_0, in GGUF F16.
DType quantized_type(const Weight& weight, const Config& config, const QuantizeOptions& options);

QuantizedModel quantize(const Model& model, const QuantizeOptions& options);

}  // namespace limpid
