#pragma once
// How fast a model reads and writes: decoding token by token, reading a prompt, translating, vectors of texts. One JSON
// object each.

#include <nlohmann/json.hpp>

#include <string>

namespace limpid {

struct DecodeBench {
  std::string model;
  int64_t tokens = 128;   // written per sequence, from one token on
  int64_t sequences = 1;  // at once
  int rounds = 5;
};
// tokens_per_second of all sequences together; with one sequence also bandwidth_gb (read with the same threads in the
// same run over a buffer of the size of the weights) and of_bandwidth: what share of it the weights alone used.
nlohmann::ordered_json bench_decode(const DecodeBench& options);

struct PrefillBench {
  std::string model;
  int64_t tokens = 512;
  int rounds = 5;
};
// Reading a prompt, with the scores of the token after it.
nlohmann::ordered_json bench_prefill(const PrefillBench& options);

struct TranslateBench {
  std::string model;
  int64_t sentences = 256, batch = 32, beam = 1;
  int64_t tokens = 32;  // of every source, and written for each: exactly so many
  int rounds = 3;
};
nlohmann::ordered_json bench_translate(const TranslateBench& options);

struct EmbedBench {
  std::string model;
  std::string ids;  // a file: the ids of a text in every line; empty: random ones
  int64_t texts = 256, batch = 32;
  int64_t tokens = 32;  // of every text, where they are random
  int rounds = 5;
};
// The vectors of texts, so many at a time in the order of the file.
nlohmann::ordered_json bench_embed(const EmbedBench& options);

}  // namespace limpid
