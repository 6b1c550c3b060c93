#include "models/config.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "models/config_family.h"
#include "models/config_sizes.h"
#include "models/missing_keys.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr uintmax_t kMaxBytes = 16 << 20;  // a real config.json has some kilobytes

// As a floating point number, since absurd sizes overflow every other.
double product(auto... sizes) { return (1.0 * ... * static_cast<double>(sizes)); }

// Numbers in the model, roughly.
double estimated_parameters(const Config& config) {
  double count = product(config.vocab + config.max_positions + config.token_types, config.width);
  for (const StackConfig& stack : {config.encoder, config.decoder})
    count += product(stack.layers, config.width, 2 * (stack.heads + stack.kv_heads), config.head_size_of(stack)) +
             product(stack.layers, config.width, stack.ffn, config.gated ? 3 : 2) +
             product(stack.layers, config.experts.count, config.width, config.experts.features, 3);
  const RnnConfig& rnn = config.rnn;
  return count + product(8, rnn.layers, rnn.hidden, rnn.hidden + rnn.embed) + product(config.vocab, rnn.embed);
}

std::string_view width_key(const Config& config) {
  if (config.cross_attention()) return "d_model";
  return config.model_type == "gpt2" ? "n_embd" : "hidden_size";
}

Config read_config(const Json& whole) {
  Config config;
  const Json json = with_own_names(text_config_of(whole));
  ConfigReader reader(json);
  read_family(reader, config);
  read_limpid(reader, config);
  if (config.positions == PositionKind::rotary && !reader.was_asked("rope_parameters")) read_rope(reader, config, {});
  refuse_unsupported(reader, config);
  // Quantised matrices have their outputs in rows, in every family.
  if (reader.has("quantization_config")) config.layout = WeightLayout::out_in;
  check_consistency(config);
  note_ignored(reader, config);
  if (whole.contains("text_config") && whole["text_config"].is_object())
    config.notes.emplace_back("of a model that reads pictures too, the part that reads text is read");
  config.json = json;
  return config;
}

// The next key that is missing once `key` is there; none where that is not to be found out. A number that stands in for
// a size has to divide another size, or to be divided by one.
std::optional<std::string> next_missing(Json& json, const std::string& key) {
  for (const int stand_in : {5040, 1}) {
    json[key] = stand_in;
    try {
      read_config(json);
      return {};
    } catch (const MissingKeys& other) {
      return other.keys()[0] == key ? std::nullopt : std::optional(other.keys()[0]);
    } catch (const Error&) {  // the other number may do
    }
  }
  return {};
}

[[noreturn]] void fail_with_all(Json json, const MissingKeys& first) {
  std::vector<std::string> keys = first.keys();
  while (const auto next = next_missing(json, keys.back())) keys.push_back(*next);
  if (keys.size() == 1) throw first;
  throw MissingKeys(fmt::format("[config] {} are missing: {} has no model without them", fmt::join(keys, ", "),
                                json.value("model_type", "this family")),
                    keys);
}

}  // namespace

void check_files_hold(const Config& config, int64_t tensors, int64_t bytes, std::string_view where) {
  const int64_t layers =
      config.recurrent() ? config.rnn.layers : std::max(config.encoder.layers, config.decoder.layers);
  check(layers <= tensors,
        "{}: the config speaks of {} layers, but the files hold {} tensors: do they belong together?", where, layers,
        tensors);
  const ExpertConfig& experts = config.experts;
  double least = product(experts.count, experts.features, config.width, 3);  // of one layer, and the queries of all
  for (const StackConfig& stack : {config.encoder, config.decoder})
    least += product(stack.layers, stack.heads, config.head_size_of(stack), config.width);
  constexpr double kMostPerByte = 4;  // the smallest type has more than two bits
  check(least <= kMostPerByte * static_cast<double>(bytes),
        "{}: the config speaks of {} layers of {} heads and {} experts, {:.0f} numbers at least, but the files hold {} "
        "bytes: do they belong together?",
        where, layers, config.stack().heads, experts.count, least, bytes);
}

void check_consistency(const Config& config) {
  check(
      config.positions != PositionKind::rotary || config.rope.turned(config.head_size) % 2 == 0,
      "[config] a head has {} numbers ({} {}): allowed with rotary positions, which turn pairs, is an even number",
      config.head_size, [&] { return width_key(config); }, config.width);
  check(
      config.positions != PositionKind::sinusoidal || config.width % 2 == 0,
      "[config] {} is {}: allowed with sinusoidal positions, sines and cosines in pairs, is an even number",
      [&] { return width_key(config); }, config.width);
  check(config.experts.chosen <= config.experts.count, "[config] num_experts_per_tok {} of {} experts",
        config.experts.chosen, config.experts.count);
  check(config.activation != Activation::tanh || config.dropout.activation == 0,
        "[config] dropout on activations is {} with tanh: allowed is 0", config.dropout.activation);
  for (const int64_t layers : {config.encoder.layers, config.decoder.layers, config.rnn.layers})
    check(layers <= kMostLayers, "[config] the model has {} layers: allowed are {}", layers, kMostLayers);
  // A table of sines and cosines is made for every text, up to its length.
  constexpr double kMostSinusoids = 1 << 27;
  check(config.positions != PositionKind::sinusoidal ||
            static_cast<double>(config.max_positions) * static_cast<double>(config.width) <= kMostSinusoids,
        "[config] {} sinusoidal positions of {} numbers: allowed are {:.0f} numbers in all", config.max_positions,
        config.width, kMostSinusoids);
  constexpr double kMost = 1e15;  // far beyond any memory, far below what overflows
  const double count = estimated_parameters(config);
  check(count <= kMost, "[config] the sizes ask for {:.1e} parameters: allowed are {:.0e}", count, kMost);
  // What a model takes before it has any weights: every expert has names and shapes, every number of a head a place.
  constexpr double kMostExperts = 1 << 17, kMostHeadNumbers = 1 << 24;
  for (const StackConfig& stack : {config.encoder, config.decoder}) {
    const double experts = product(stack.layers, config.experts.count);
    check(experts <= kMostExperts, "[config] {} layers of {} experts: allowed are {:.0f} experts in all", stack.layers,
          config.experts.count, kMostExperts);
    check(product(stack.layers, stack.heads, config.head_size_of(stack)) <= kMostHeadNumbers,
          "[config] {} layers of {} heads of {} numbers: allowed are {:.0f} numbers in all", stack.layers, stack.heads,
          config.head_size_of(stack), kMostHeadNumbers);
  }
}

Config parse_config(const Json& json) {
  try {
    return read_config(json);
  } catch (const MissingKeys& first) {
    fail_with_all(text_config_of(json), first);
  }
}

Config load_config(const std::string& path) {
  fs::path file = path;
  std::error_code none;  // what cannot be looked at is for read_text to explain
  if (fs::is_directory(file, none)) {
    file /= "config.json";
    check(fs::exists(file, none), "[config] {}: holds no config.json: is it the folder of a model?", path);
  }
  const uintmax_t bytes = fs::is_regular_file(file, none) ? fs::file_size(file, none) : 0;
  check(none || bytes <= kMaxBytes, "[config] {}: is no config.json: it has {}", file, bytes_text(bytes));
  const Json json = parse_ordered_json(read_text(file), fmt::format("[config] {}", file.string()));
  try {
    return parse_config(with_usual_sizes(json));
  } catch (const Error& error) {
    fail(error.kind(), "{} ({})", error.what(), file.string());
  }
}

}  // namespace limpid
