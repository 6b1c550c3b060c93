#pragma once
// Neurons over a corpus: the texts that fire one most, and how its activations are spread.

#include <functional>
#include <optional>

#include "inspect/firing.h"
#include "inspect/neurons.h"

namespace limpid {

// Over the examples that `next` gives, until it gives none; the strongest `texts` are kept.
Firing firing_of(const Session& session, const NeuronReader& reader, int64_t neuron, int64_t texts,
                 const std::function<std::optional<Example>()>& next);

}  // namespace limpid
