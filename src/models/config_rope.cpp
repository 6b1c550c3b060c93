// rope_theta, rope_scaling, rope_parameters: rotary positions as old and new releases of transformers write them.

#include <cmath>

#include "base/error.h"
#include "models/config_family.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> read_factors(ConfigReader& reader, std::string_view key, int64_t count) {
  const Json* list = reader.find(key);
  const std::string allowed = fmt::format("a list of {} numbers above 0", count);
  if (!list) reader.missing(key, allowed);
  std::vector<double> factors;
  if (list->is_array())
    for (const Json& item : *list)
      if (item.is_number() && item.get<double>() > 0) factors.push_back(item.get<double>());
  if (!list->is_array() || std::ssize(*list) != count || factors.size() != list->size())
    reader.wrong(key, *list, allowed);
  return factors;
}

RopeScaling read_kind(ConfigReader& rope) {
  const ConfigReader::Names<RopeScaling> kinds = {
      {"default", RopeScaling::none},  {"linear", RopeScaling::linear}, {"dynamic", RopeScaling::dynamic},
      {"llama3", RopeScaling::llama3}, {"yarn", RopeScaling::yarn},     {"longrope", RopeScaling::longrope},
      {"su", RopeScaling::longrope}};
  const RopeScaling old = rope.choice("type", RopeScaling::none, kinds);  // the older name
  return rope.choice("rope_type", old, kinds);
}

void read_yarn(ConfigReader& rope, RopeConfig& to) {
  to.beta_fast = rope.positive("beta_fast", 32);
  to.beta_slow = rope.positive("beta_slow", 1);
  to.truncate = rope.flag("truncate", true);
  const auto grown = [&](double by) { return to.factor <= 1 ? 1 : 0.1 * by * std::log(to.factor) + 1; };
  const double scale = rope.at_least_zero("mscale", 0), of_all = rope.at_least_zero("mscale_all_dim", 0);
  to.attention_factor =
      rope.positive("attention_factor", scale > 0 && of_all > 0 ? grown(scale) / grown(of_all) : grown(1));
}

void read_longrope(ConfigReader& rope, const Config& config, RopeConfig& to) {
  const int64_t pairs = to.turned(config.head_size) / 2;
  to.short_factors = read_factors(rope, "short_factor", pairs);
  to.long_factors = read_factors(rope, "long_factor", pairs);
  to.attention_factor = rope.positive(
      "attention_factor", to.factor <= 1 ? 1 : std::sqrt(1 + std::log(to.factor) / std::log(to.original_positions)));
}

// One object of keys; `original` is what a key beside it says of the positions of training, and counts more; 0:
// nothing. `dynamic` stretches beyond max_position_embeddings, whatever was trained on.
void read_scaling(ConfigReader& rope, const Config& config, int64_t original, RopeConfig& to) {
  to.scaling = read_kind(rope);
  rope.find("finetuned");  // how the model came about
  int64_t positions = rope.size("original_max_position_embeddings", config.max_positions);
  if (original > 0) positions = original;
  if (to.scaling == RopeScaling::dynamic) positions = config.max_positions;
  to.original_positions = static_cast<double>(positions);
  const bool stretched = to.scaling != RopeScaling::none && to.scaling != RopeScaling::longrope;
  const double grown = static_cast<double>(config.max_positions) / to.original_positions;
  if (stretched && !rope.has("factor") && !(to.scaling == RopeScaling::yarn && grown > 1))
    rope.missing("factor", "a number above 0");
  if (to.scaling != RopeScaling::none) to.factor = rope.positive("factor", std::max(grown, 1.0));
  switch (to.scaling) {
    case RopeScaling::none:
    case RopeScaling::linear:
    case RopeScaling::dynamic: break;
    case RopeScaling::llama3:
      to.low_frequency = rope.positive("low_freq_factor", 1);
      to.high_frequency = rope.positive("high_freq_factor", 4);
      check(to.low_frequency < to.high_frequency, "[config] low_freq_factor {} is not below high_freq_factor {}",
            to.low_frequency, to.high_frequency);
      break;
    case RopeScaling::yarn: read_yarn(rope, to); break;
    case RopeScaling::longrope: read_longrope(rope, config, to); break;
  }
}

void refuse_rest(ConfigReader& rope, const Json& object) {
  for (const std::string& key : rope.never_asked())
    rope.wrong(key, object.at(key), "null: Limpid computes nothing else with this rope_type");
}

int64_t turned_numbers(const Config& config, double partial, std::string_view key) {
  const auto dims = static_cast<int64_t>(static_cast<double>(config.head_size) * partial);
  check(partial <= 1 && dims >= 2 && dims % 2 == 0,
        "[config] {} {} of a head of {} numbers: allowed is what gives an even number of them", key, partial,
        config.head_size);
  return dims;
}

}  // namespace

void read_rope(ConfigReader& reader, Config& config, const RopeKeys& keys) {
  config.positions = PositionKind::rotary;
  const double theta = reader.positive(keys.theta, keys.default_theta);
  config.rope.theta = theta;
  double partial = keys.default_partial;
  if (!keys.partial.empty()) partial = reader.positive(keys.partial, partial);
  const bool local = !keys.local_theta.empty();
  config.local_rope.theta = local ? reader.positive(keys.local_theta, keys.default_local_theta) : 0;
  const int64_t original = reader.size("original_max_position_embeddings", 0);

  for (const std::string key : {"rope_scaling", "rope_parameters"}) {
    const Json* value = reader.find(key);
    if (!value) continue;
    const bool by_type = value->is_object() && value->contains("full_attention");
    const auto read = [&](const Json& object, const std::string& name, RopeConfig& to) {
      ConfigReader rope(object, name + ".");
      const double inner = rope.positive("rope_theta", to.theta);
      check(!reader.has(keys.theta) || by_type || inner == theta, "[config] {} {} differs from {}.rope_theta {}",
            keys.theta, theta, name, inner);
      to.theta = inner;
      const double own = rope.positive("partial_rotary_factor", partial);
      if (own != partial && keys.partial.empty())
        rope.wrong("partial_rotary_factor", own, "1 or null: Limpid computes nothing else");
      partial = own;
      to.dims = partial == 1 ? 0 : turned_numbers(config, partial, "partial_rotary_factor");
      read_scaling(rope, config, original, to);
      refuse_rest(rope, object);
    };
    if (!by_type) {
      read(*value, key, config.rope);
      continue;
    }
    read(value->at("full_attention"), key + ".full_attention", config.rope);
    if (value->contains("sliding_attention")) {
      if (!local) config.local_rope.theta = theta;
      read(value->at("sliding_attention"), key + ".sliding_attention", config.local_rope);
    }
  }
  if (partial != 1 && config.rope.dims == 0) config.rope.dims = turned_numbers(config, partial, keys.partial);
}

}  // namespace limpid
