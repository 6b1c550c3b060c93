#pragma once
// Words as vectors, their neighbours, similarities and map, as JSON and as tables.

#include <nlohmann/json_fwd.hpp>

#include "inspect/embeddings.h"
#include "inspect/heatmap.h"

namespace limpid {

struct WordVectors {
  std::vector<std::string> names;
  std::vector<std::vector<double>> vectors;
};
// Words, pieces of words or #ID. A word of several tokens is the mean of their vectors, which its label says.
WordVectors read_words(const Session& session, const EmbeddingSpace& space, const Tokenizer& tokenizer,
                       const std::vector<std::string>& words);

nlohmann::ordered_json neighbours_json(const Tokenizer& tokenizer, const std::string& word,
                                       const std::vector<Neighbour>& nearest);
std::string neighbours_csv(const Tokenizer& tokenizer, const std::vector<Neighbour>& nearest);
nlohmann::ordered_json map_json(const WordVectors& words, const Projection2d& projection);
std::string map_csv(const WordVectors& words, const Projection2d& projection);
Picture similarity_picture(const WordVectors& words, Similarity kind);

}  // namespace limpid
