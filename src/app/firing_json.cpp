#include "app/firing_json.h"

namespace limpid {

nlohmann::ordered_json histogram_json(const Histogram& histogram) {
  return {{"low", histogram.low()},
          {"width", histogram.width()},
          {"zeros", histogram.zeros()},
          {"bins", std::vector<int64_t>(histogram.bins().begin(), histogram.bins().end())}};
}

nlohmann::ordered_json texts_json(const Firing& firing) {
  auto texts = nlohmann::ordered_json::array();
  for (const FiringText& text : firing.texts())
    texts.push_back({{"text", text.text},
                     {"position", text.position},
                     {"activation", text.activation},
                     {"tokens", text.tokens},
                     {"activations", text.activations},
                     {"marked", text.marked}});
  return texts;
}

}  // namespace limpid
