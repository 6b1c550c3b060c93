#include "formats/gguf_model.h"

#include <fmt/ranges.h>

#include <set>

#include "base/error.h"
#include "base/json.h"
#include "formats/gguf_facts.h"
#include "formats/gguf_names.h"
#include "models/config_sizes.h"

namespace limpid {
namespace {

using nlohmann::ordered_json;

void add_special(const GgufFile& file, ordered_json& json) {
  for (const auto& [ours, theirs] : {std::pair{"bos_token_id", "bos_token_id"},
                                     {"eos_token_id", "eos_token_id"},
                                     {"pad_token_id", "padding_token_id"}})
    if (const auto id = file.integer(std::string("tokenizer.ggml.") + theirs)) json[ours] = *id;
}

DType type_of(const GgufTensor& tensor, const std::string& where) {
  const std::string_view name = tensor.type ? tensor.type->name : "";
  const auto type = dtype_named(name);
  check(type.has_value(),
        "{}: tensor {} holds numbers of type {}: Limpid reads F32, F16, BF16, Q4_0 to Q8_0, Q2_K to Q6_K and IQ4_NL",
        where, in_quotes(tensor.name),
        [&] { return name.empty() ? std::to_string(tensor.type_id) : std::string(name); });
  return *type;
}

// Rows are brought into our order as they are stored: no row is split by the blocks of a type.
void attach_turned(const GgufTensor& tensor, DType type, int64_t head_size, Weight& weight, WeightHolder& holder) {
  const int64_t rows = weight.shape[0], row = weight.size() / rows;
  if (weight.is_matrix())
    return copy_adjacent_pairs(tensor.bytes.data(), rows, bytes_of(type, row), head_size, holder.make(weight, type));
  holder.point(weight, type, tensor.bytes.data());  // a vector: as reals
  const std::vector<real> theirs(weight.numbers(), weight.numbers() + weight.size());
  copy_adjacent_pairs(reinterpret_cast<const std::byte*>(theirs.data()), rows, row * static_cast<int64_t>(sizeof(real)),
                      head_size, holder.make(weight, kRealType));
}

// GGUF keeps 1 + w where the family keeps w.
void attach_gain(const GgufTensor& tensor, DType type, real offset, Weight& weight, WeightHolder& holder) {
  holder.point(weight, type, tensor.bytes.data());
  const std::vector<real> theirs(weight.numbers(), weight.numbers() + weight.size());
  real* const ours = holder.make_reals(weight);
  for (size_t i = 0; i < theirs.size(); ++i) ours[i] = theirs[i] - offset;
}

// Divisors of rotary positions, heads of encoders that classify, and what only old files of T5 have.
bool is_read_elsewhere(std::string_view name) {
  return name.starts_with("rope_f") || name.starts_with("cls.") || name.ends_with(".cross_attn_rel_b.weight");
}

}  // namespace

Config gguf_config(const GgufFile& file) {
  const GgufFacts facts = gguf_facts(file);
  ordered_json json = config_json(facts);
  add_special(file, json);
  Config config = parse_config(json);
  int64_t bytes = 0;
  for (const GgufTensor& tensor : file.tensors()) bytes += std::ssize(tensor.bytes);
  check_files_hold(config, std::ssize(file.tensors()), bytes, file.where());
  config.layout = WeightLayout::out_in;                // GGUF turns GPT-2's matrices
  if (!config.writes()) config.head = HeadKind::none;  // and leaves out BERT's pooler
  return config;
}

void attach_gguf(const GgufFile& file, Model& model, WeightHolder& holder) {
  const Config& config = model.config();
  std::set<std::string, std::less<>> read;
  model.visit_parameters([&](Weight& weight) {
    const std::string name = gguf_name(config, weight.name);
    read.insert(name);
    const GgufTensor* tensor = file.tensor(name);
    check(tensor != nullptr, "{}: has no tensor {}: is it a whole model of its family?", file.where(), in_quotes(name));
    check(tensor->shape == weight.shape, "{}: tensor {} has shape [{}], its keys ask for [{}]: damaged?", file.where(),
          in_quotes(name), fmt::join(tensor->shape, ", "), fmt::join(weight.shape, ", "));
    const DType type = type_of(*tensor, file.where());
    if (is_permuted_in_gguf(config, weight.name)) return attach_turned(*tensor, type, config.head_size, weight, holder);
    if (config.norm_offset != 0 && weight.role == ParameterRole::norm)
      return attach_gain(*tensor, type, config.norm_offset, weight, holder);
    holder.point(weight, type, tensor->bytes.data());
  });
  for (const GgufTensor& tensor : file.tensors())
    check(read.contains(tensor.name) || is_read_elsewhere(tensor.name),
          "{}: tensor {} belongs to nothing that Limpid computes of {} models: take another model", file.where(),
          in_quotes(tensor.name), [&] { return file.text("general.architecture").value_or(""); });
}

}  // namespace limpid
