#pragma once
// The Hugging Face names of each family's parameters: a family is a row in this table plus a config.

#include <string>

#include "layers/block.h"
#include "models/config.h"

namespace limpid {

struct StackNames {
  std::string block;  // with {} for the block's number; the names below follow it
  BlockNames parts;
  std::string final_norm;
  std::string relative_bias = {};

  BlockNames of(int64_t index) const;  // the full names of one block
};

// What an encoder ends in.
struct HeadNames {
  std::string dense = {}, norm = {};                // of the head that guesses masked tokens
  std::string pooler = {};                          // dense layer and tanh on the first token
  std::string label_dense = {}, label_output = {};  // of the head that classifies texts
};

struct ModelNames {
  std::string embedding;                                     // the table that all sides share
  std::string source_embedding = {}, target_embedding = {};  // where they do not share
  std::string positions = {}, segments = {};                 // {} in names stands for the side
  std::string embedding_norm = {};
  std::string project_in = {}, project_out = {};
  StackNames encoder = {}, decoder = {};
  std::string output = {}, output_bias = {};
  HeadNames head = {};
};

const ModelNames& names_of(const Config& config);

}  // namespace limpid
