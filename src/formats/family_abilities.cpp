#include "formats/family_abilities.h"

#include <algorithm>

#include "formats/gguf_facts.h"
#include "models/config_steps.h"

namespace limpid {

// One forward pass trains, runs and shows: a family that has a reader of its config can do all of it. GGUF knows some,
// and reads those that are alike as one.
FamilyAbilities family_abilities(std::string_view model_type) {
  const std::vector<std::string_view> types = known_model_types();
  const bool known = std::find(types.begin(), types.end(), model_type) != types.end();
  const std::string_view gguf = gguf_architecture(model_type);
  return {.run = known,
          .train = known,
          .look = known,
          .quantize = known,
          .gguf_in = !gguf.empty() && model_type_of(gguf) == model_type,
          .gguf_out = !gguf.empty(),
          .hf_out = known};
}

}  // namespace limpid
