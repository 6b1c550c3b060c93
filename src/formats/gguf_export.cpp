#include "formats/gguf_export.h"

#include <algorithm>
#include <deque>
#include <map>

#include "base/error.h"
#include "formats/config_difference.h"
#include "formats/gguf_facts.h"
#include "formats/gguf_names.h"

namespace limpid {
namespace {

// What llama.cpp calls the file as a whole.
uint32_t file_type(Model& model, const std::string& type) {
  static const std::map<std::string, uint32_t, std::less<>> kNumbers = {
      {"F32", 0},     {"F16", 1},     {"Q4_0", 2},    {"Q4_1", 3},    {"Q8_0", 7},    {"Q5_0", 8},    {"Q5_1", 9},
      {"Q2_K", 10},   {"Q3_K_S", 11}, {"Q3_K_M", 12}, {"Q3_K_L", 13}, {"Q4_K_S", 14}, {"Q4_K_M", 15}, {"Q5_K_S", 16},
      {"Q5_K_M", 17}, {"Q6_K", 18},   {"Q3_K", 12},   {"Q4_K", 15},   {"Q5_K", 17},   {"IQ4_NL", 25}, {"BF16", 32}};
  std::map<DType, int64_t> counts;
  model.visit_parameters([&](Weight& weight) { counts[weight.type] += weight.size(); });
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](auto& a, auto& b) { return a.second < b.second; });
  const auto found = kNumbers.find(type.empty() ? name_of(most->first) : std::string_view(type));
  return found == kNumbers.end() ? 0 : found->second;
}

// GGUF's row i of a head's queries or keys is this row of ours: adjacent_pair_row, the other way round.
int64_t our_row(int64_t row, int64_t head_size) {
  const int64_t in_head = row % head_size;
  return row - in_head + in_head / 2 + (in_head % 2) * (head_size / 2);
}

// Numbers that stand in the file otherwise than in the model, kept until it is written.
class Tensors {
 public:
  explicit Tensors(GgufWriter& writer) : writer_(writer) {}

  void list(const std::string& name, const std::vector<double>& numbers) {
    if (!numbers.empty()) add(name, {numbers.begin(), numbers.end()});
  }

  void weight(const Config& config, const Weight& weight) {
    const std::string name = gguf_name(config, weight.name);
    if (name.empty()) return;
    if (config.norm_offset != 0 && weight.role == ParameterRole::norm) {
      std::vector<float> gains;
      for (int64_t i = 0; i < weight.size(); ++i)
        gains.push_back(static_cast<float>(weight.numbers()[i] + config.norm_offset));
      return add(name, std::move(gains));
    }
    GgufTensorToWrite tensor{
        .name = name, .type = weight.type, .shape = weight.shape, .data = static_cast<const std::byte*>(weight.data)};
    if (is_permuted_in_gguf(config, weight.name))
      tensor.row_at = [head = config.head_size](int64_t row) { return our_row(row, head); };
    writer_.tensor(std::move(tensor));
  }

 private:
  void add(const std::string& name, std::vector<float> numbers) {
    const std::vector<float>& kept = made_.emplace_back(std::move(numbers));
    writer_.tensor({.name = name,
                    .type = DType::f32,
                    .shape = {std::ssize(kept)},
                    .data = reinterpret_cast<const std::byte*>(kept.data())});
  }

  GgufWriter& writer_;
  std::deque<std::vector<float>> made_;
};

}  // namespace

std::string why_no_gguf(const Config& config, const Tokenizers& tokenizers) {
  if (config.only_limpid) return "it is a variant that only Limpid knows";
  const GgufFacts facts = gguf_facts(config);
  if (facts.architecture.empty()) return fmt::format("GGUF files of {} are not written", config.model_type);
  if (config.guesses_words() || config.classifies()) return "GGUF has no place for what its encoder ends in";
  // What cannot be said in GGUF's keys comes back as something else.
  if (const std::string part = config_difference(config, parse_config(config_json(facts))); !part.empty())
    return fmt::format("GGUF's {} cannot say {}", facts.architecture, part);
  try {
    GgufWriter trial;
    add_gguf_tokenizer(trial, tokenizers, config.vocab);
  } catch (const NoGgufTokenizer& error) {
    return error.reason();
  }
  return {};
}

void write_gguf(const std::filesystem::path& path, Model& model, const Tokenizers& tokenizers,
                const GgufOptions& options) {
  const Config& config = model.config();
  const std::string reason = why_no_gguf(config, tokenizers);
  if (!reason.empty())
    fail(ErrorKind::unsupported, "[gguf] this model cannot be a GGUF file: {}: write a folder instead", reason);
  const GgufFacts facts = gguf_facts(config);
  GgufWriter writer;
  writer.text("general.architecture", facts.architecture);
  writer.text("general.name", options.name);
  writer.integer("general.file_type", file_type(model, options.type));
  writer.integer("general.quantization_version", 2);
  add_gguf_facts(writer, facts);
  if (options.pooling > 0) writer.integer(facts.architecture + ".pooling_type", static_cast<uint32_t>(options.pooling));
  add_gguf_tokenizer(writer, tokenizers, config.vocab);
  Tensors tensors(writer);
  tensors.list("rope_freqs.weight", facts.frequency_divisors);
  tensors.list("rope_factors_long.weight", facts.long_factors);
  tensors.list("rope_factors_short.weight", facts.short_factors);
  model.visit_parameters([&](Weight& weight) { tensors.weight(config, weight); });
  writer.write(path);
}

}  // namespace limpid
