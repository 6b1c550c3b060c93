#pragma once
// The options of the command line that say how a token is chosen, the same for every command that writes.

#include "app/command.h"
#include "inference/generation_config.h"
#include "inference/sampling.h"

namespace limpid {

void add_sampling_flags(CommandLine& line, SamplingOptions& options);
void add_repetition_flag(CommandLine& line, TokenRules& rules);  // --no-repeat-ngram
void add_memory_flag(CommandLine& line, int64_t& bytes);         // --memory

// What the user left open is as the defaults of the model say. Its rules about tokens always hold.
void take_sampling_defaults(const CommandLine& line, const GenerationConfig& config, SamplingOptions& sampling,
                            TokenRules& rules);

}  // namespace limpid
