#include "inspect/neuron_texts.h"

#include "base/error.h"
#include "inspect/pass.h"

namespace limpid {

Firing firing_of(const Session& session, const NeuronReader& reader, int64_t neuron, int64_t texts,
                 const std::function<std::optional<Example>()>& next) {
  check(neuron >= 0 && neuron < reader.count(), "[look] there is no neuron {}: the block has {}, 0 … {}", neuron,
        reader.count(), reader.count() - 1);
  Firing firing(texts);
  const bool source = session.two_sided() && reader.tap().starts_with("encoder");
  const Example* current = nullptr;
  FunctionProbe probe;
  probe.on(reader.tap(), [&](const Tap& tap) {
    const ConstMatrix values = tap.value.values();
    firing.add(source ? current->source : current->input, values.data + neuron, values.stride);
  });
  const Arena arena;
  while (const auto example = next()) {
    current = &*example;
    Pass pass(*example, &probe);
    Run run({.arena = arena, .probe = pass.probe()});
    session.model().forward(run, example->batch, example->choice);
  }
  return firing;
}

}  // namespace limpid
