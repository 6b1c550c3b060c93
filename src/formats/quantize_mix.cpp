#include "formats/quantize_mix.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "models/names.h"
#include "tensor/block_types.h"

namespace limpid {
namespace {

enum class Part { other, embedding, output, key, value, attention_output, down };

struct Mix {
  std::string_view name;
  DType type;  // of what is not named otherwise
};
constexpr std::array kMixes = {Mix{"Q2_K", DType::q2_k},   Mix{"Q3_K_S", DType::q3_k}, Mix{"Q3_K_M", DType::q3_k},
                               Mix{"Q3_K_L", DType::q3_k}, Mix{"Q4_0", DType::q4_0},   Mix{"Q4_1", DType::q4_1},
                               Mix{"Q4_K_S", DType::q4_k}, Mix{"Q4_K_M", DType::q4_k}, Mix{"Q5_0", DType::q5_0},
                               Mix{"Q5_1", DType::q5_1},   Mix{"Q5_K_S", DType::q5_k}, Mix{"Q5_K_M", DType::q5_k},
                               Mix{"Q6_K", DType::q6_k},   Mix{"Q8_0", DType::q8_0},   Mix{"IQ4_NL", DType::iq4_nl}};

struct Place {
  Part part = Part::other;
  bool decoder = false;
  int64_t layer = 0;
  size_t index = 0;  // of the weight
};

// What of a name stands behind the prefix of a block, and the block's number.
std::optional<std::pair<int64_t, std::string_view>> in_block(std::string_view name, std::string_view block) {
  const size_t brace = block.find("{}");
  if (brace == block.npos || !name.starts_with(block.substr(0, brace))) return {};
  int64_t number = 0;
  const std::string_view rest = name.substr(brace);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  const std::string_view behind = block.substr(brace + 2), tail(end, rest.data() + rest.size());
  if (error != std::errc() || !tail.starts_with(behind)) return {};
  return std::pair{number, tail.substr(behind.size())};
}

bool is_value(const std::vector<std::string>& names, std::string_view name) {
  return !names.empty() && name == names.back();  // of three the last; one matrix for all three counts as values
}

Part part_in_block(const BlockNames& parts, std::string_view name) {
  if (is_value(parts.self.qkv, name) || is_value(parts.cross.qkv, name)) return Part::value;
  for (const auto* attention : {&parts.self, &parts.cross})
    if (attention->qkv.size() == 3 && name == attention->qkv[1]) return Part::key;
  if (name == parts.self.output) return Part::attention_output;
  if (const auto expert = in_block(name, parts.experts.prefix); expert && expert->second == parts.experts.matrices.down)
    return Part::down;
  return name == parts.ffn.down ? Part::down : Part::other;
}

Place place_of(const Weight& weight, const Config& config) {
  if (config.recurrent()) return {};
  const ModelNames& names = names_of(config);
  const std::string_view name = std::string_view(weight.name).substr(0, weight.name.rfind('.'));
  for (const StackNames* stack : {&names.encoder, &names.decoder}) {
    const auto within = in_block(name, stack->block);
    if (!within) continue;
    Place place{part_in_block(stack->parts, within->second), stack == &names.decoder, within->first};
    // llama.cpp knows T5's by another name, under which nothing is said of it.
    if (config.cross_attention() && place.part == Part::attention_output) place.part = Part::other;
    return place;
  }
  if (weight.role == ParameterRole::output) return {Part::output};
  return {weight.role == ParameterRole::embedding ? Part::embedding : Part::other};
}

// The first and the last eighth of the layers, and every third between.
bool gets_more(int64_t i, int64_t count) { return i < count / 8 || i >= 7 * count / 8 || (i - count / 8) % 3 == 2; }

struct Rules {
  std::string_view mix;
  DType type;
  int64_t queries_per_key, experts;
  int64_t layers;  // llama.cpp knows one number of them: of encoder-decoders the encoder's
  int64_t values;  // how many matrices of values there are

  DType of_value(int64_t i) const {
    DType result = type;
    if (mix == "Q2_K") result = queries_per_key >= 4 ? DType::q4_k : DType::q3_k;
    if (mix == "Q3_K_M") result = i < 2 ? DType::q5_k : DType::q4_k;
    if (mix == "Q3_K_L") result = DType::q5_k;
    if ((mix == "Q4_K_M" || mix == "Q5_K_M") && gets_more(i, values)) result = DType::q6_k;
    if (mix == "Q4_K_S" && i < 4) result = DType::q5_k;
    if (mix == "IQ4_NL" && queries_per_key >= 4) result = DType::q5_k;
    // Models of 70 billion: a value serves eight heads, so that its matrix is small.
    if (layers == 80 && queries_per_key > 1 && (result == DType::q3_k || result == DType::q4_k)) result = DType::q5_k;
    return experts == 8 ? DType::q8_0 : result;
  }
  DType of_down(int64_t i) const {
    if (mix == "Q2_K") return DType::q3_k;
    if (mix == "Q3_K_M") return i < layers / 16 ? DType::q5_k : DType::q4_k;
    if (mix == "Q3_K_L") return DType::q5_k;
    if ((mix == "Q4_K_M" || mix == "Q5_K_M") && gets_more(i, layers)) return DType::q6_k;
    if ((mix == "Q4_K_S" || mix == "IQ4_NL") && i < layers / 8) return DType::q5_k;
    return type;
  }
  DType of_attention_output() const {
    if (experts == 8)
      return mix == "Q2_K" || mix == "Q3_K_S" || mix == "Q3_K_M" || mix == "Q4_K_S" || mix == "Q4_K_M" ||
                     mix == "IQ4_NL"
                 ? DType::q5_k
                 : type;
    if (mix == "Q2_K") return DType::q3_k;
    if (mix == "Q3_K_M") return DType::q4_k;
    return mix == "Q3_K_L" ? DType::q5_k : type;
  }
};

// A type whose blocks fill rows of so many numbers.
DType fitting(DType type, int64_t cols) {
  if (cols % block_numbers(type) == 0) return type;
  const DType smaller = type == DType::q6_k   ? DType::q8_0
                        : type == DType::q5_k ? DType::q5_1
                        : type == DType::q4_k ? DType::q5_0
                                              : DType::q4_0;
  return cols % kBlockNumbers == 0 ? smaller : DType::f16;
}

// The order in which llama.cpp counts matrices of a kind: of encoder-decoders by name, the decoder's first.
bool counts_before(const Place& a, const Place& b) {
  if (a.decoder != b.decoder) return a.decoder;
  if (a.layer != b.layer) return std::to_string(a.layer) + "." < std::to_string(b.layer) + ".";
  return a.index < b.index;
}

}  // namespace

const std::vector<std::string>& quantize_mixes() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Mix& mix : kMixes) list.emplace_back(mix.name);
    return list;
  }();
  return names;
}

bool is_turned(const Weight& weight, const Config& config) {
  return config.layout == WeightLayout::in_out && weight.is_matrix() &&
         (weight.role == ParameterRole::attention || weight.role == ParameterRole::feed_forward);
}

bool stays_plain(const Weight& weight, const Config& config) {
  if (!weight.is_matrix() || weight.role == ParameterRole::norm || weight.role == ParameterRole::position) return true;
  if (config.recurrent()) return false;
  const ModelNames& names = names_of(config);
  if (config.token_types > 0 && weight.name == names.segments + ".weight") return true;
  // Which experts a token takes hangs on small differences of scores, and the router is a small matrix.
  return config.experts.count > 0 && weight.name.ends_with("." + names.decoder.parts.experts.router + ".weight");
}

std::vector<DType> mixed_types(const Model& model, std::string_view mix) {
  const auto found = std::find_if(kMixes.begin(), kMixes.end(), [&](const Mix& one) { return one.name == mix; });
  check(found != kMixes.end(), "[quantize] there is no type {}: allowed are {}", mix,
        fmt::join(quantize_mixes(), ", "));
  const Config& config = model.config();
  std::vector<const Weight*> weights;
  model.each_parameter([&](const Weight& weight) { weights.push_back(&weight); });
  // An encoder's head is no output layer there.
  const bool tied = !config.writes() || std::none_of(weights.begin(), weights.end(), [&](const Weight* weight) {
    return weight->role == ParameterRole::output && weight->is_matrix() && !stays_plain(*weight, config);
  });
  std::vector<Place> places;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (stays_plain(*weights[i], config)) continue;
    places.push_back(place_of(*weights[i], config));
    places.back().index = i;
  }
  if (config.cross_attention()) std::stable_sort(places.begin(), places.end(), counts_before);
  const StackConfig& stack = config.stack();
  const bool experts = config.experts.count > 0;  // which count as one
  const auto values =
      std::count_if(places.begin(), places.end(), [](const Place& place) { return place.part == Part::value; });
  const Rules rules{mix,
                    found->type,
                    stack.heads / std::max<int64_t>(stack.kv_heads, 1),
                    config.experts.count,
                    config.cross_attention() ? config.encoder.layers : stack.layers,
                    values};
  std::vector<DType> types(weights.size(), DType::f32);
  int64_t value = 0, down = 0;
  for (const Place& place : places) {
    const Weight& weight = *weights[place.index];
    const int64_t cols = is_turned(weight, config) ? weight.shape[0] : weight.shape[1];
    DType type = found->type;
    switch (place.part) {
      case Part::output: type = type == DType::q8_0 ? type : DType::q6_k; break;
      case Part::embedding: type = tied && type != DType::q8_0 ? DType::q6_k : type; break;
      case Part::value: type = rules.of_value(value++); break;
      case Part::key: type = config.experts.count == 8 ? DType::q8_0 : type; break;
      case Part::attention_output: type = rules.of_attention_output(); break;
      case Part::down: type = rules.of_down(experts ? place.layer : down++); break;
      case Part::other: break;
    }
    types[place.index] = fitting(type, cols);
  }
  return types;
}

}  // namespace limpid
