#pragma once
// Text as a model wants to read it: its tokens with the special ones around them that the model was trained with.

#include <string_view>

#include "inference/loaded_model.h"

namespace limpid {

// The ids of a text with those around them that the model was trained with, and how many these are.
std::vector<int32_t> wrapped(const LoadedModel& loaded, const std::vector<int32_t>& text);
struct SpecialCount {
  int64_t before = 0, after = 0;
};
SpecialCount special_count(const LoadedModel& loaded);

// Where the files leave it to the custom of the family, the tokens of that custom stand in them from now on, so that
// what is written from this model says them.
void state_special_tokens(LoadedModel& loaded);

// What the model goes on from (language models), reads (encoders) or translates (the source, with its end token if it
// wants one). For a language model without a text it is the token that begins one; throws where the model has none.
std::vector<int32_t> input_ids(const LoadedModel& loaded, std::string_view text);

// What vectors are made of: the whole text, with the end where the files of a language model put one, prepared as a
// folder of sentence-transformers wants it.
std::vector<int32_t> sentence_ids(const LoadedModel& loaded, const std::string& text);
// Of a prompt that stands before a text: how many tokens it makes no part of the vector for.
int64_t tokens_left_out(const LoadedModel& loaded, const std::string& prompt);

// The token that ends what an encoder-decoder model writes, by its config or else its generation_config.json.
int32_t end_token(const LoadedModel& loaded);

// A target of an encoder-decoder model, with its end token.
std::vector<int32_t> target_ids(const LoadedModel& loaded, std::string_view text);

// As input_ids of an encoder, where "[MASK]", "<mask>" or the tokenizer's own mask token stands for a masked token.
std::vector<int32_t> masked_ids(const LoadedModel& loaded, std::string_view text);

// An Error where an encoder cannot read text `number`: it has no tokens, too many, or unknown ones.
void check_text(const Config& config, const std::vector<int32_t>& text, size_t number);

}  // namespace limpid
