#pragma once
// The options of the command line that say how a token is chosen, the same for every command that writes.

#include "app/command.h"
#include "inference/request_options.h"

namespace limpid {

void add_sampling_flags(CommandLine& line, SamplingOptions& options);
void add_repetition_flag(CommandLine& line, TokenRules& rules);  // --no-repeat-ngram
void add_memory_flag(CommandLine& line, int64_t& bytes);         // --memory

// What was said on the command line, for inference/request_options.h to merge with the defaults of the model.
RequestOptions asked_of(const CommandLine& line, const SamplingOptions& sampling, const TokenRules& rules);
// An option's value where it was given.
template <class T>
std::optional<T> given(const CommandLine& line, const char* name, const T& value) {
  return line.count(name) > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace limpid
