#pragma once
// Neurons and where they fire, as JSON.

#include <nlohmann/json_fwd.hpp>

#include "inspect/firing.h"
#include "inspect/neurons.h"

namespace limpid {

nlohmann::ordered_json reading_json(const Tokenizer& tokenizer, const NeuronReading& reading);
// The neurons that fired, each with what it asks and answers in so many tokens.
nlohmann::ordered_json fired_json(const Tokenizer& tokenizer, const NeuronReader& reader,
                                  const std::vector<FiredNeuron>& fired, int64_t tokens);

// The same fields for a neuron and for a feature of a sparse autoencoder.
nlohmann::ordered_json histogram_json(const Histogram& histogram);
nlohmann::ordered_json texts_json(const Firing& firing);
nlohmann::ordered_json firing_json(const Firing& firing);

// Whose tokens a side of a model reads and writes: "encoder", else those of the side that writes.
const Tokenizer& tokenizer_of(const Session& session, const std::string& side);

}  // namespace limpid
