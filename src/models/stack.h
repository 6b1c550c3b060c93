#pragma once
// Stack: the embedding and the blocks of one side of a model, built from its config. An encoder, a decoder, or the one
// stack of a language model.

#include "layers/block.h"
#include "layers/embedding.h"
#include "layers/relative_bias.h"
#include "models/config.h"
#include "models/names.h"

namespace limpid {

struct StackSide {
  std::string scope;    // of its taps: "encoder", "decoder", or empty where there is one stack
  bool causal = false;  // of its self-attention
  bool cross = false;   // has cross-attention
};

class Stack {
 public:
  Stack() = default;
  Stack(const Config& config, const StackConfig& sizes, const StackNames& names, const StackSide& side,
        const Weight* table);

  // The last vectors of all tokens, (tokens, width).
  Tensor forward(Run& run, const Tokens& tokens, const Tensor& memory = {},
                 const Sequences& memory_sequences = {}) const;
  // From the vectors that the last block leaves to those: the last norm and the projection behind it.
  Tensor finish(Run& run, Tensor x, const Sequences& rows) const;
  void visit(const WeightVisitor& visitor);

 private:
  StackSide side_;
  Embedding embedding_;
  RelativeBias relative_;
  std::vector<Block> blocks_;
  std::optional<Norm> final_norm_;
  std::optional<Linear> project_out_;
};

// How the embedding of a model starts.
Initial embedding_initial(const Config& config);

}  // namespace limpid
