// The feed-forward network: neurons that fired, what one asks and answers, and the texts that fire it.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "inspect/neuron_json.h"
#include "inspect/neuron_texts.h"
#include "server/http.h"
#include "server/inspect_texts.h"
#include "server/inspect_views.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using Answer = InspectCall::Answer;

constexpr int64_t kTokensOfEach = 4;

}  // namespace

Answer view_neurons(InspectCall& call) {
  const std::string side = call.side();
  const int64_t block = call.fields.whole("block", 0, 0, 10000);
  const int64_t position = call.fields.whole("position", -1, -(1 << 20), 1 << 20);
  const int64_t top = call.fields.whole("top", 10, 1, 1000);
  const Example& example = call.example();
  const NeuronReader reader(call.model(), side, block);
  Json json = {{"position", position},
               {"neurons", fired_json(tokenizer_of(call.session(), side), reader, reader.fired(example, position, top),
                                      kTokensOfEach)}};
  std::vector<std::string> command = {"--block", std::to_string(block), "--position", std::to_string(position),
                                      "--top",   std::to_string(top)};
  if (!side.empty()) command.insert(command.end(), {"--side", side});
  return call.json(std::move(json), "neuron", command);
}

Answer view_neuron(InspectCall& call) {
  const std::string side = call.side();
  const int64_t block = call.fields.whole("block", 0, 0, 10000);
  const int64_t neuron = call.fields.whole("neuron", 0, 0, 1 << 24);
  const int64_t top = call.fields.whole("top", 10, 1, 100);
  const NeuronReader reader(call.model(), side, block);
  Json json = reading_json(tokenizer_of(call.session(), side), reader.read(neuron, top));
  json["count"] = reader.count();
  if (auto texts = read_texts(call); !texts.empty()) {
    size_t next = 0;
    const Firing firing = firing_of(call.session(), reader, neuron, top, [&]() -> std::optional<Example> {
      call.progress(static_cast<double>(next) / static_cast<double>(texts.size()));
      if (next == texts.size()) return std::nullopt;
      return std::move(texts[next++]);
    });
    json["firing"] = firing_json(firing);
  }
  std::vector<std::string> command = {"--block", std::to_string(block), "--neuron", std::to_string(neuron),
                                      "--top",   std::to_string(top)};
  if (!side.empty()) command.insert(command.end(), {"--side", side});
  if (json.contains("firing")) command.insert(command.end(), {"--text", "texts.txt"});
  return call.json(std::move(json), "neuron", command);
}

}  // namespace limpid
