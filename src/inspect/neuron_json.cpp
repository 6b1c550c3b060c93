#include "inspect/neuron_json.h"

#include <nlohmann/json.hpp>

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

Json tokens_json(const Tokenizer& tokenizer, const std::vector<WeightedToken>& tokens) {
  Json list = Json::array();
  for (const WeightedToken& token : tokens)
    list.push_back({{"token", piece_of(tokenizer, token.id)}, {"id", token.id}, {"value", token.value}});
  return list;
}

}  // namespace

Json reading_json(const Tokenizer& tokenizer, const NeuronReading& reading) {
  return {{"block", reading.block},
          {"neuron", reading.neuron},
          {"asked", tokens_json(tokenizer, reading.asked)},
          {"promoted", tokens_json(tokenizer, reading.promoted)},
          {"demoted", tokens_json(tokenizer, reading.demoted)},
          {"question_length", reading.question_length},
          {"answer_length", reading.answer_length}};
}

Json fired_json(const Tokenizer& tokenizer, const NeuronReader& reader, const std::vector<FiredNeuron>& fired,
                int64_t tokens) {
  std::vector<int64_t> neurons;
  for (const FiredNeuron& one : fired) neurons.push_back(one.neuron);
  Json all = Json::array();
  const std::vector<NeuronReading> readings = reader.read(neurons, tokens);
  for (size_t i = 0; i < fired.size(); ++i) {
    all.push_back(reading_json(tokenizer, readings[i]));
    all.back()["activation"] = fired[i].activation;
    all.back()["written"] = fired[i].written;
  }
  return all;
}

Json histogram_json(const Histogram& histogram) {
  return {{"low", histogram.low()},
          {"width", histogram.width()},
          {"zeros", histogram.zeros()},
          {"bins", std::vector<int64_t>(histogram.bins().begin(), histogram.bins().end())}};
}

Json texts_json(const Firing& firing) {
  Json texts = Json::array();
  for (const FiringText& text : firing.texts())
    texts.push_back({{"text", text.text},
                     {"position", text.position},
                     {"activation", text.activation},
                     {"tokens", text.tokens},
                     {"activations", text.activations},
                     {"marked", text.marked}});
  return texts;
}

Json firing_json(const Firing& firing) {
  return {{"share", firing.share()}, {"histogram", histogram_json(firing.histogram())}, {"texts", texts_json(firing)}};
}

const Tokenizer& tokenizer_of(const Session& session, const std::string& side) {
  return side == "encoder" ? session.reader() : session.writer();
}

}  // namespace limpid
