#include "formats/plain_model.h"

#include <map>
#include <vector>

#include "base/error.h"

namespace limpid {
namespace {

void read_reals(const Weight& weight, real* out) {
  if (weight.type != DType::q8) return to_real(weight.type, weight.data, weight.size(), out);
  const auto* bytes = static_cast<const int8_t*>(weight.data);
  const int64_t cols = weight.size() / weight.shape[0];
  for (int64_t i = 0; i < weight.size(); ++i)
    out[i] = static_cast<real>(static_cast<float>(bytes[i]) * weight.scales[i / cols]);
}

}  // namespace

PlainModel plain_model(Model& from) {
  nlohmann::ordered_json json = from.config().json;
  json.erase("quantization_config");
  PlainModel plain;
  plain.model = make_model(parse_config(json));
  plain.parameters =
      std::make_unique<Parameters>([&](const WeightVisitor& visitor) { plain.model->visit_parameters(visitor); });
  std::map<std::string, const Weight*> stored;
  from.visit_parameters([&](Weight& weight) { stored[weight.name] = &weight; });
  const bool turned = from.config().layout != plain.model->config().layout;
  plain.model->visit_parameters([&](Weight& weight) {
    const auto found = stored.find(weight.name);
    check(found != stored.end() && found->second->size() == weight.size(), "[export] the model lacks {}", weight.name);
    real* out = plain.parameters->data() + weight.offset;
    const bool matrix = weight.shape.size() == 2 &&
                        (weight.part == ParameterRole::attention || weight.part == ParameterRole::feed_forward);
    if (!turned || !matrix) return read_reals(*found->second, out);
    std::vector<real> theirs(static_cast<size_t>(weight.size()));
    read_reals(*found->second, theirs.data());
    const int64_t rows = weight.shape[0], cols = weight.shape[1];
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t col = 0; col < cols; ++col) out[row * cols + col] = theirs[static_cast<size_t>(col * rows + row)];
  });
  return plain;
}

}  // namespace limpid
