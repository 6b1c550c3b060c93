#include "formats/plain_model.h"

#include <map>
#include <vector>

#include "base/error.h"
#include "tensor/quantize.h"

namespace limpid {
PlainModel plain_model(const Model& from) {
  nlohmann::ordered_json json = from.config().json;
  json.erase("quantization_config");
  PlainModel plain;
  Config config = parse_config(json);
  config.head = from.config().head;  // what the weights have, whatever class wrote the config
  plain.model = make_model(config);
  plain.parameters =
      std::make_unique<Parameters>([&](const WeightVisitor& visitor) { plain.model->visit_parameters(visitor); });
  std::map<std::string, const Weight*> stored;
  from.each_parameter([&](const Weight& weight) { stored[weight.name] = &weight; });
  const bool turned = from.config().layout != plain.model->config().layout;
  plain.model->visit_parameters([&](Weight& weight) {
    const auto found = stored.find(weight.name);
    check(found != stored.end() && found->second->size() == weight.size(), "[export] the model lacks {}", weight.name);
    real* out = plain.parameters->data() + weight.offset;
    const bool matrix = weight.shape.size() == 2 &&
                        (weight.role == ParameterRole::attention || weight.role == ParameterRole::feed_forward);
    if (!turned || !matrix) return read_numbers(*found->second, out);
    std::vector<real> theirs(static_cast<size_t>(weight.size()));
    read_numbers(*found->second, theirs.data());
    const int64_t rows = weight.shape[0], cols = weight.shape[1];
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t col = 0; col < cols; ++col) out[row * cols + col] = theirs[static_cast<size_t>(col * rows + row)];
  });
  return plain;
}

}  // namespace limpid
