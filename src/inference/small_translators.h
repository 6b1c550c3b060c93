#pragma once
// Small encoder-decoder models of every kind with what translation needs, for tests.

#include <cmath>

#include "models/small_models.h"

namespace limpid {

inline std::vector<std::string> small_translator_names() {
  return {"marian",       "marian_untied",  "marian_no_positions", "pegasus", "pegasus_learned_gated",
          "gru",          "gru_every_step", "gru_attention",       "lstm",    "lstm_attention",
          "lstm_reversed"};
}

inline constexpr int32_t kSmallEnd = 2;

inline SmallModel small_translator(const std::string& name, int64_t vocab = 23, uint64_t seed = 1) {
  nlohmann::ordered_json json = small_configs().at(name);
  json["vocab_size"] = vocab;
  json["eos_token_id"] = kSmallEnd;
  json["pad_token_id"] = 0;
  return small_model(json, seed);
}

// Sources of different lengths, each with its end token.
inline std::vector<std::vector<int32_t>> small_sources(int64_t count, int64_t vocab, uint64_t seed = 5) {
  Random random(seed);
  std::vector<std::vector<int32_t>> sources(count);
  for (auto& source : sources) {
    source.resize(random.below(7));
    for (int32_t& id : source) id = static_cast<int32_t>(3 + random.below(vocab - 3));
    source.push_back(kSmallEnd);
  }
  return sources;
}

// Log-probability of a target and its end token by the full pass.
inline double full_log_probability(const Model& model, const std::vector<int32_t>& source, std::vector<int32_t> target,
                                   bool ends = true) {
  target.push_back(kSmallEnd);
  const auto start = static_cast<int32_t>(*model.config().decoder_start_token);
  Run run({});
  const Tensor logits = model.logits(run, Batch::pairs({source}, {target}, start));
  double result = 0;
  for (int64_t i = 0; i < logits.rows() - (ends ? 0 : 1); ++i) {
    const real* row = logits.values().row(i);
    double sum = 0;
    for (int64_t j = 0; j < logits.cols(); ++j) sum += std::exp(static_cast<double>(row[j]));
    result += static_cast<double>(row[target[i]]) - std::log(sum);
  }
  return result;
}

}  // namespace limpid
