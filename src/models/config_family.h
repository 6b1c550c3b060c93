#pragma once
// The readers of config.json by family, and what they share. Keys and defaults are those of Hugging Face's classes,
// configuration_<model_type>.py. Sizes are required even where Hugging Face has a default, so that what is missing in a
// recipe is noticed; to a file with weights they are added before (models/config_defaults.cpp).

#include <functional>

#include "models/config_steps.h"

namespace limpid {

struct Named {
  std::string_view key;
  int64_t value;
};
// The size of a head: width / heads, which must be whole.
int64_t share(const Named& width, const Named& heads, std::string_view hint = "");

struct TokenDefaults {
  std::optional<int64_t> pad, bos, eos;
};
void read_tokens(ConfigReader& reader, Config& config, const TokenDefaults& defaults);

// Rotary positions: theta, how they are stretched, which part of a head is turned; in the keys of old and new releases.
struct RopeKeys {
  std::string_view theta = "rope_theta";
  double default_theta = 10000;
  std::string_view partial;  // share of a head that is turned; no key: all of it
  double default_partial = 1;
  std::string_view local_theta;  // of layers with a window, where theirs is another
  double default_local_theta = 10000;
};
void read_rope(ConfigReader& reader, Config& config, const RopeKeys& keys);

// Which layers see a window: layer_types where the file has them, else what `has_window` says of a layer's number.
void read_windows(ConfigReader& reader, Config& config, int64_t window, const std::function<bool(int64_t)>& has_window);

// Encoders: by the class that wrote the file, what the model ends in.
void read_head(ConfigReader& reader, Config& config, bool has_pooler);

using ReadFamily = void (*)(ConfigReader&, Config&);
using FamilyReaders = std::vector<std::pair<std::string_view, ReadFamily>>;
FamilyReaders translator_readers();
FamilyReaders llama_readers();  // Llama and what is made like it
FamilyReaders gpt_readers();    // GPT-2 and what is made like it
FamilyReaders encoder_readers();
void read_rnn(ConfigReader& reader, Config& config);
FamilyReaders all_readers();

}  // namespace limpid
