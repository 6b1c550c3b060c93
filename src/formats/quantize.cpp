#include "formats/quantize.h"

#include <cstring>

#include "base/error.h"
#include "base/parallel.h"
#include "formats/quantize_mix.h"
#include "tensor/quantize.h"

namespace limpid {
namespace {

// Whether the matrix gives the scores of words.
bool is_output(const Weight& weight, const Config& config) {
  return weight.role == ParameterRole::output || (weight.role == ParameterRole::embedding && config.tie_output);
}

std::vector<real> transposed(const std::vector<real>& numbers, int64_t rows, int64_t cols) {
  std::vector<real> result(numbers.size());
  parallel_ranges(cols, 16, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j)
      for (int64_t i = 0; i < rows; ++i) result[j * rows + i] = numbers[i * cols + j];
  });
  return result;
}

void fill(Weight& weight, DType type, const std::vector<real>& numbers, WeightHolder& holder) {
  std::byte* const out = holder.make(weight, type);
  if (!is_quantized(type)) return from_real(numbers.data(), weight.size(), type, out);
  const int64_t cols = weight.shape[1], row_bytes = bytes_of(type, cols);
  float* const scales = type == DType::q8 ? holder.make_factors(weight) : nullptr;
  parallel_ranges(weight.shape[0], 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      quantize_row(numbers.data() + i * cols, cols, type, out + i * row_bytes, scales ? scales + i : nullptr,
                   "[quantize] " + weight.name);
  });
}

}  // namespace

DType quantized_type(const Weight& weight, const Config& config, const QuantizeOptions& options) {
  if (stays_plain(weight, config) || options.bits == 32) return DType::f32;
  const int output_bits = options.output_bits > 0 ? options.output_bits : std::max(options.bits, 8);
  const int bits = is_output(weight, config) ? output_bits : options.bits;
  if (bits == 16) return DType::f16;
  const int64_t inputs = is_turned(weight, config) ? weight.shape[0] : weight.shape[1];
  const bool blocks = inputs % kBlockNumbers == 0;
  if (bits == 4 && blocks) return DType::q4_0;
  if (!options.for_gguf) return DType::q8;
  return blocks ? DType::q8_0 : DType::f16;
}

QuantizedModel quantize(const Model& model, const QuantizeOptions& options) {
  for (const int bits : {options.bits, options.output_bits > 0 ? options.output_bits : options.bits})
    check(bits == 32 || bits == 16 || bits == 8 || bits == 4, "[quantize] {} bits: allowed are 32, 16, 8 and 4", bits);
  std::vector<DType> types;  // of the mix
  if (!options.mix.empty()) types = mixed_types(model, options.mix);
  Config config = model.config();
  config.layout = WeightLayout::out_in;
  QuantizedModel result{make_model(config), std::make_shared<WeightHolder>()};
  std::vector<const Weight*> from;
  model.each_parameter([&](const Weight& weight) { from.push_back(&weight); });
  size_t next = 0;
  result.model->visit_parameters([&](Weight& weight) {
    const size_t index = next++;
    const Weight& source = *from.at(index);
    std::vector<real> numbers(static_cast<size_t>(source.size()));
    read_numbers(source, numbers.data());
    if (is_turned(source, model.config())) numbers = transposed(numbers, source.shape[0], source.shape[1]);
    const DType type = types.empty() ? quantized_type(source, model.config(), options) : types.at(index);
    fill(weight, type, numbers, *result.weights);
  });
  result.model->keep(result.weights);
  return result;
}

}  // namespace limpid
