#pragma once
// The Hugging Face names of each family's parameters: a family is a row in this table plus a config.

#include <string>

#include "layers/block.h"

namespace limpid {

struct StackNames {
  std::string block;  // with {} for the block's number; the names below follow it
  BlockNames parts;
  std::string final_norm;

  BlockNames of(int64_t index) const;  // the full names of one block
};

struct ModelNames {
  std::string embedding;                           // the table that all sides share
  std::string source_embedding, target_embedding;  // where they do not share
  std::string positions, segments, embedding_norm;
  StackNames encoder, decoder;
  std::string output, output_bias;
};

const ModelNames& names_of(const std::string& model_type);

}  // namespace limpid
