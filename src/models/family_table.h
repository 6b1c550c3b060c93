#pragma once
// Every family that can be opened, in the words of people: what docs/models.md and limpid models show.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/config.h"

namespace limpid {

struct FamilyRow {
  std::string_view model_type;  // of config.json
  std::string_view models;      // that have it
  std::string_view kind;        // encoder, language model, encoder-decoder, …
  std::string_view parts;       // what is its own
  std::string_view reference;   // cases of Hugging Face's own code that it agrees with; empty: none
};

// In the order of kinds; one row for each model_type that configs are read of, which a test holds.
const std::vector<FamilyRow>& family_table();

// What kind of model a model_type is; none: it is unknown.
std::optional<Family> family_of(std::string_view model_type);

// What can be done with a family.
struct FamilyAbilities {
  bool run = false, train = false, look = false, quantize = false, gguf_in = false, gguf_out = false, hf_out = false;
};

// The table as Markdown.
std::string family_markdown(FamilyAbilities (*abilities)(std::string_view model_type));

}  // namespace limpid
