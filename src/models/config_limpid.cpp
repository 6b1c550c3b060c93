// The object "limpid" of a config.json: variants of a family that no other program knows.

#include "base/error.h"
#include "base/nearest.h"
#include "models/config_steps.h"

namespace limpid {
namespace {

// Reads the keys of the object over what the family gives, and sees what they change.
class Variant {
 public:
  Variant(ConfigReader& reader, Config& config) : reader_(reader), config_(config) {}

  void flag(std::string_view key, bool& field) { set(field, reader_.flag(key, field)); }
  template <class T>
  void choice(std::string_view key, T& field, const ConfigReader::Names<T>& names) {
    set(field, reader_.choice(key, field, names));
  }
  template <class T>
  void set(T& field, T value) {
    config_.only_limpid |= field != value;
    field = value;
  }

 private:
  ConfigReader& reader_;
  Config& config_;
};

void read_norm(ConfigReader& reader, Variant& variant, Config& config) {
  variant.choice("norm", config.norm, {{"layer", NormKind::layer}, {"rms", NormKind::rms}, {"batch", NormKind::batch}});
  // Biases go with the kind of norm unless `bias` says otherwise; RMS norm has none.
  if (reader.has("norm")) config.norm_bias = config.norm != NormKind::rms;
  variant.choice("norm_place", config.norm_place, {{"before", NormPlace::before}, {"after", NormPlace::after}});
  if (reader.has("norm_place")) config.final_norm = config.norm_place == NormPlace::before;
  variant.flag("final_norm", config.final_norm);
}

void read_bias(ConfigReader& reader, Variant& variant, Config& config) {
  if (!reader.has("bias")) return;
  const bool bias = reader.flag("bias", true);
  check(bias || config.norm != NormKind::batch,
        "[config] limpid.bias is false where norm is \"batch\": allowed is true");
  variant.set(config.attention_bias, bias);
  variant.set(config.attention_output_bias, bias);
  config.head_bias = config.head_bias && bias;
  variant.set(config.ffn_bias, bias);
  variant.set(config.norm_bias, bias && config.norm != NormKind::rms);
  if (!bias) variant.set(config.output_bias, false);
}

void read_positions(ConfigReader& reader, Variant& variant, Config& config) {
  variant.choice("positions", config.positions,
                 {{"none", PositionKind::none},
                  {"sinusoidal", PositionKind::sinusoidal},
                  {"learned", PositionKind::learned},
                  {"rotary", PositionKind::rotary}});
  check(!reader.has("sinusoids") || config.positions == PositionKind::sinusoidal,
        "[config] limpid.sinusoids needs positions \"sinusoidal\"");
  variant.choice("sinusoids", config.sinusoids,
                 {{"halves", SinusoidLayout::halves}, {"interleaved", SinusoidLayout::interleaved}});
}

void read_feed_forward(ConfigReader& reader, Variant& variant, Config& config) {
  ConfigReader::Names<Activation> names = activation_names();
  names.emplace_back("none", Activation::none);
  variant.choice("activation", config.activation, names);
  variant.flag("gated", config.gated);
  variant.flag("feed_forward", config.feed_forward);
  for (const char* key : {"activation", "gated"})
    check(config.feed_forward || !reader.has(key),
          "[config] limpid.{} needs a feed-forward network: feed_forward is false", key);
}

void refuse_unknown(const ConfigReader& reader, const std::string& object) {
  std::string known;
  for (const std::string_view key : reader.asked()) known.append(known.empty() ? "" : ", ").append(key);
  for (const std::string& key : reader.never_asked())
    fail("[config] {}.{} is not known: allowed are {}{}", object, key, known, did_you_mean(key, reader.asked()));
}

void read_dropout(ConfigReader& reader, DropoutConfig& dropout) {
  const auto* object = reader.find("dropout");
  if (!object) return;
  ConfigReader rates(*object, "limpid.dropout.");
  dropout.embedding = rates.dropout("embedding", dropout.embedding);
  dropout.attention = rates.dropout("attention", dropout.attention);
  dropout.activation = rates.dropout("activation", dropout.activation);
  dropout.residual = rates.dropout("residual", dropout.residual);
  refuse_unknown(rates, "limpid.dropout");
}

void read_object(const nlohmann::ordered_json& object, Config& config) {
  ConfigReader reader(object, "limpid.");
  read_dropout(reader, config.dropout);
  if (config.recurrent()) return refuse_unknown(reader, "rnn_seq2seq: limpid");

  Variant variant(reader, config);
  read_norm(reader, variant, config);
  read_bias(reader, variant, config);
  read_positions(reader, variant, config);
  read_feed_forward(reader, variant, config);
  variant.flag("residual", config.residual);
  variant.flag("scale_scores", config.scale_scores);
  variant.flag("scale_embedding", config.scale_embedding);
  variant.flag("causal", config.causal);
  check(config.writes() || !config.causal, "[config] limpid.causal is true: an encoder sees both sides");
  refuse_unknown(reader, "limpid");
}

}  // namespace

void read_limpid(ConfigReader& reader, Config& config) {
  if (const auto* object = reader.find("limpid")) read_object(*object, config);
}

}  // namespace limpid
