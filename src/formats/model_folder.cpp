#include "formats/model_folder.h"

#include <fmt/ranges.h>

#include <cstring>
#include <deque>

#include "base/file.h"
#include "formats/safetensors_writer.h"
#include "models/config_sizes.h"
#include "models/names.h"
#include "tensor/block_types.h"

namespace limpid {
namespace {

// The names that files in the wild have for a weight: its own; without the prefix that classes with a head put before
// the base's, or with one; old names of BERT's norms; and of an embedding that several parts share the name of any of
// them.
std::vector<std::string> file_names(const std::string& name) {
  std::vector<std::string> names = {name, "transformer." + name};
  // Of masked models the layer's own bias counts where a file has it beside the head's.
  for (const char* head : {"lm_head.", "cls.predictions."})
    if (name == std::string(head) + "bias") names.insert(names.begin(), std::string(head) + "decoder.bias");
  for (const std::string_view prefix :
       {"bert.", "roberta.", "distilbert.", "mpnet.", "model.", "transformer.", "gpt_neox."})
    if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
  for (const auto& [now, before] :
       {std::pair{"LayerNorm.weight", "LayerNorm.gamma"}, std::pair{"LayerNorm.bias", "LayerNorm.beta"}})
    for (size_t i = 0, count = names.size(); i < count; ++i)
      if (names[i].ends_with(now))
        names.push_back(names[i].substr(0, names[i].size() - std::string_view(now).size()) + before);
  constexpr std::string_view kShared = "shared.weight";
  if (name.ends_with(kShared))
    for (const char* other : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"})
      names.push_back(name.substr(0, name.size() - kShared.size()) + other);
  if (name.ends_with(kShared)) names.emplace_back("lm_head.weight");
  // Of models that read pictures too, the part that reads text has a prefix of its own, in old files and in new ones.
  names.push_back("language_model." + name);
  if (name.starts_with("model.")) names.push_back("model.language_model." + name.substr(6));
  return names;
}

const SafetensorsEntry* find_entry(const SafetensorsFolder& files, const std::string& name) {
  for (const std::string& candidate : file_names(name))
    if (const SafetensorsEntry* entry = files.find(candidate)) return entry;
  return nullptr;
}

int64_t row_bytes(const Weight& weight) {  // as reals
  return weight.size() / weight.shape[0] * static_cast<int64_t>(sizeof(real));
}

bool is_bytes(const SafetensorsEntry& entry) { return entry.type_name == "I8" || entry.type_name == "U8"; }

const SafetensorsEntry& entry_of(const SafetensorsFolder& files, const Weight& weight) {
  const SafetensorsEntry* found = find_entry(files, weight.name);
  const SafetensorsEntry& entry = found ? files.get(found->name) : files.get(weight.name);  // says what is missing
  check(entry.shape == weight.shape,
        "[model] {}: {} has shape [{}], the config asks for [{}]: do config and weights belong together?", files.path(),
        weight.name, fmt::join(entry.shape, ", "), fmt::join(weight.shape, ", "));
  return entry;
}

// What rows of blocks may hold: the type that quantization_config names for the weight, else what their length says.
std::vector<DType> block_types_of(const Config& config, const std::string& name) {
  const auto quantization = config.json.find("quantization_config");
  if (quantization != config.json.end() && quantization->is_object() && quantization->contains("types")) {
    const auto& types = quantization->at("types");
    const auto found = types.is_object() ? types.find(name) : types.end();
    const auto type =
        found != types.end() && found->is_string() ? dtype_named(found->get<std::string>()) : std::optional<DType>();
    if (type && is_blocked(*type)) return {*type};
  }
  return {DType::q4_0, DType::q8_0};
}

// A matrix of bytes is q8 with its scales beside it (I8), or rows of blocks (U8).
void attach_quantized(const SafetensorsFolder& files, const Config& config, const SafetensorsEntry& entry,
                      Weight& weight, WeightHolder& holder) {
  const std::string where = "[model] " + files.path().string();
  check(weight.is_matrix(), "{}: {} is quantised, which only matrices can be: quantise the model again", where,
        weight.name);
  const int64_t rows = weight.shape[0], cols = weight.shape[1];
  if (entry.type_name == "U8") {
    for (const DType type : block_types_of(config, weight.name))
      if (cols % block_numbers(type) == 0 && entry.shape == std::vector{rows, bytes_of(type, cols)}) {
        if (!weight.file_rows) return weight.point_to(type, entry.bytes.data());
        return copy_from_file_order(*weight.file_rows, entry.bytes.data(), bytes_of(type, cols),
                                    holder.make(weight, type));
      }
  }
  check(entry.type_name == "I8" && entry.shape == weight.shape,
        "{}: {} has {} of shape [{}], the config asks for [{}]: do config and weights belong together?", where,
        weight.name, entry.type_name, fmt::join(entry.shape, ", "), fmt::join(weight.shape, ", "));
  const SafetensorsEntry& scales = files.get(weight.name + "_scale");
  check(scales.type == DType::f32 && scales.shape == std::vector{rows},
        "{}: {} has {} of shape [{}] instead of one F32 per row: quantise the model again", where, scales.name,
        scales.type_name, fmt::join(scales.shape, ", "));
  if (weight.file_rows) {
    copy_from_file_order(*weight.file_rows, entry.bytes.data(), cols, holder.make(weight, DType::q8));
    return copy_from_file_order(*weight.file_rows, scales.bytes.data(), sizeof(float),
                                reinterpret_cast<std::byte*>(holder.make_factors(weight)));
  }
  weight.point_to(DType::q8, entry.bytes.data());
  std::memcpy(holder.make_factors(weight), scales.bytes.data(), scales.bytes.size());
}

}  // namespace

void read_weights(const SafetensorsFolder& files, Parameters& parameters,
                  const std::function<bool(const Weight&)>& skip) {
  for (const Weight& weight : parameters.weights()) {
    if (skip && skip(weight)) continue;
    const SafetensorsEntry* found = find_entry(files, weight.name);
    check(!found || !is_bytes(*found),
          "[model] {}: {} is quantised and cannot be trained: name the model that it was made from", files.path(),
          weight.name);
    real* const ours = parameters.data(weight);
    read_reals(entry_of(files, weight), ours);
    if (!weight.file_rows) continue;
    const std::vector<real> theirs(ours, ours + weight.size());
    copy_from_file_order(*weight.file_rows, reinterpret_cast<const std::byte*>(theirs.data()), row_bytes(weight),
                         reinterpret_cast<std::byte*>(ours));
  }
}

namespace {

void check_sizes(const Config& config, const SafetensorsFolder& files) {
  int64_t bytes = 0;
  for (const auto& [name, entry] : files.entries()) bytes += std::ssize(entry->bytes);
  check_files_hold(config, std::ssize(files.entries()), bytes, "[model] " + files.path().string());
}

// Whether two tensors of one shape are in the files, with other numbers.
bool differ(const SafetensorsEntry* a, const SafetensorsEntry* b) {
  if (!a || !b || a->name == b->name || a->shape != b->shape) return false;
  return a->type_name != b->type_name || std::memcmp(a->bytes.data(), b->bytes.data(), b->bytes.size()) != 0;
}

// Whether an output layer stands beside the embedding that it would share.
bool has_own_output(const ModelNames& names, const SafetensorsFolder& files) {
  return differ(find_entry(files, names.embedding + ".weight"), find_entry(files, names.output));
}

// Whether each side of an encoder-decoder has an embedding of its own, whatever lies beside them.
bool has_own_embeddings(const ModelNames& names, const SafetensorsFolder& files) {
  const SafetensorsEntry *source = find_entry(files, names.source_embedding + ".weight"),
                         *target = find_entry(files, names.target_embedding + ".weight");
  return differ(source, target) || (target && differ(source, find_entry(files, names.embedding + ".weight")));
}

}  // namespace

Config read_model_config(const std::filesystem::path& folder) {
  Config config = load_config(folder.string());
  std::error_code none;
  const bool has_weights = std::filesystem::exists(folder / "model.safetensors", none) ||
                           std::filesystem::exists(folder / "model.safetensors.index.json", none);
  if (!has_weights) return config;
  const SafetensorsFolder files(folder);
  check_sizes(config, files);
  if (!config.recurrent()) fit_config(config, files);
  return config;
}

void fit_config(Config& config, const SafetensorsFolder& files) {
  const ModelNames& names = names_of(config);
  if (config.cross_attention() && config.share_source_embedding && has_own_embeddings(names, files)) {
    config.share_source_embedding = false;
    config.json["share_encoder_decoder_embeddings"] = false;
  }
  if (config.tie_output && has_own_output(names, files)) {
    config.tie_output = false;
    config.json["tie_word_embeddings"] = false;
    // T5 takes from it whether logits are scaled, where it does not say so: which has been read already.
    if (config.names.starts_with("t5")) config.json["scale_decoder_outputs"] = config.logit_factor != 1;
    config.notes.emplace_back("tie_word_embeddings is not so: the file has an output layer of its own, which is taken");
  }
  const auto has = [&](const std::string& name) { return !name.empty() && find_entry(files, name + ".weight"); };
  const bool no_words = config.guesses_words() && !has(names.head.dense);
  if (no_words) {
    config.head = HeadKind::pooler;
    config.head_activation = Activation::tanh;
    config.notes.emplace_back("the file has no head that guesses words: the model gives vectors");
  }
  if (!config.writes() && config.head == HeadKind::pooler && !has(names.head.pooler)) config.head = HeadKind::none;
  if (config.writes() && !config.tie_output && !find_entry(files, names.output)) {
    config.tie_output = true;
    config.notes.emplace_back("the file has no output layer: its embedding serves as one");
  }
  if (config.writes() && config.output_bias && !files.find(names.output_bias)) config.output_bias = false;
}

MappedWeights::MappedWeights(const std::filesystem::path& folder, Model& model) : files_(folder) {
  model.visit_parameters([&](Weight& weight) {
    const SafetensorsEntry* found = find_entry(files_, weight.name);
    if (found && is_bytes(*found)) return attach_quantized(files_, model.config(), *found, weight, holder_);
    const SafetensorsEntry& entry = entry_of(files_, weight);
    if (!weight.file_rows) return holder_.point(weight, *entry.type, entry.bytes.data());
    if (weight.is_matrix())
      return copy_from_file_order(*weight.file_rows, entry.bytes.data(), bytes_of(*entry.type, weight.shape[1]),
                                  holder_.make(weight, *entry.type));
    std::vector<real> theirs(weight.size());
    read_reals(entry, theirs.data());
    copy_from_file_order(*weight.file_rows, reinterpret_cast<const std::byte*>(theirs.data()), sizeof(real),
                         reinterpret_cast<std::byte*>(holder_.make_reals(weight)));
  });
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::io, "[model] {}: cannot make this folder: {}", folder.string(), error.message());
}

void make_inner_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) fail(ErrorKind::io, "[model] {}: cannot make this folder: {}", folder.string(), error.message());
}

void write_model(const std::filesystem::path& folder, const Config& config, const Parameters& parameters, DType type) {
  std::vector<TensorToWrite> tensors;
  std::deque<std::vector<real>> reordered;
  for (const Weight& weight : parameters.weights()) {
    const real* numbers = parameters.data() + weight.offset;
    if (weight.file_rows) {
      copy_to_file_order(*weight.file_rows, reinterpret_cast<const std::byte*>(numbers), row_bytes(weight),
                         reinterpret_cast<std::byte*>(reordered.emplace_back(weight.size()).data()));
      numbers = reordered.back().data();
    }
    tensors.push_back({.name = weight.name, .type = type, .shape = weight.shape, .reals = numbers});
  }
  write_safetensors(folder / "model.safetensors", tensors);
  write_text(folder / "config.json", config.json.dump(2) + "\n");
}

}  // namespace limpid
