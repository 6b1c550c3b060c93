#pragma once
// What the keys of a GGUF file say of a model. Read from a file, or taken from a Config that is to be written; both
// ways the config that Hugging Face would write follows from it, so that whatever it cannot say of a model is seen
// before the model is written.

#include "formats/gguf.h"
#include "formats/gguf_writer.h"
#include "models/config.h"

namespace limpid {

struct GgufFacts {
  std::string architecture;  // "llama", "gemma3": GGUF's word
  int64_t vocab = 0, width = 0, layers = 0, decoder_layers = 0, ffn = 0;
  int64_t heads = 0, kv_heads = 0, head_size = 0, positions = 0;
  double norm_eps = 1e-5;
  bool tied = false;            // no output matrix of its own
  bool attention_bias = false;  // of query, key and value
  bool ffn_bias = false;        // Llama's
  bool gated = false;           // T5
  bool parallel = true;         // GPT-NeoX
  int64_t token_types = 0;      // BERT
  int64_t buckets = 0;          // T5's relative positions
  int64_t start_token = 0;      // T5's decoder

  double theta = 10000, local_theta = 10000;
  int64_t turned = 0;                               // numbers of a head that positions turn
  double linear = 1;                                // positions are divided by it
  double yarn = 1;                                  // or stretched by parts
  double beta_fast = 32, beta_slow = 1;             // which
  std::vector<double> frequency_divisors;           // Llama 3's, whatever the length
  std::vector<double> short_factors, long_factors;  // longrope
  int64_t original_positions = 0;                   // of training, of these two
  int64_t window = 0, window_period = 0;            // every so manieth layer sees all
  double attention_cap = 0, logit_cap = 0;
};

// An Error where the file lacks a key or has what Limpid does not compute.
GgufFacts gguf_facts(const GgufFile& file);

// As well as GGUF can say it. The architecture is empty where GGUF files of the family are not written.
GgufFacts gguf_facts(const Config& config);

// The config.json of Hugging Face.
nlohmann::ordered_json config_json(const GgufFacts& facts);

void add_gguf_facts(GgufWriter& writer, const GgufFacts& facts);

// GGUF's word for a model_type, and the other way; empty: none.
std::string_view gguf_architecture(std::string_view model_type);
std::string_view model_type_of(std::string_view architecture);

}  // namespace limpid
