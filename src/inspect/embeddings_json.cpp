#include "inspect/embeddings_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "inspect/csv.h"
#include "inspect/display_text.h"

namespace limpid {

using Json = nlohmann::ordered_json;

WordVectors read_words(const Session& session, const EmbeddingSpace& space, const Tokenizer& tokenizer,
                       const std::vector<std::string>& words) {
  WordVectors result;
  for (const std::string& word : words) {
    std::vector<int32_t> ids = {session.token(tokenizer, word)};
    const bool piece = word.starts_with('#') || piece_of(tokenizer, ids[0]) == word;
    if (!piece) ids = tokenizer.encode(word);
    result.names.push_back(ids.size() == 1 ? word : fmt::format("{} (mean of {})", word, ids.size()));
    result.vectors.push_back(space.mean(ids));
  }
  return result;
}

Json neighbours_json(const Tokenizer& tokenizer, const std::string& word, const std::vector<Neighbour>& nearest) {
  Json list = Json::array();
  for (const Neighbour& one : nearest)
    list.push_back({{"token", piece_of(tokenizer, one.id)}, {"id", one.id}, {"similarity", one.similarity}});
  return {{"word", word}, {"nearest", std::move(list)}};
}

std::string neighbours_csv(const Tokenizer& tokenizer, const std::vector<Neighbour>& nearest) {
  std::string csv = "id,token,similarity\n";
  for (const Neighbour& one : nearest)
    csv += fmt::format("{},{},{}\n", one.id, csv_field(visible(piece_of(tokenizer, one.id))), one.similarity);
  return csv;
}

Json map_json(const WordVectors& words, const Projection2d& projection) {
  Json points = Json::array();
  for (size_t i = 0; i < words.names.size(); ++i)
    points.push_back({{"word", words.names[i]}, {"x", projection.points[i][0]}, {"y", projection.points[i][1]}});
  return {{"points", std::move(points)}, {"explained", projection.explained}};
}

std::string map_csv(const WordVectors& words, const Projection2d& projection) {
  std::string text = "word,x,y\n";
  for (size_t i = 0; i < words.names.size(); ++i)
    text += fmt::format("{},{},{}\n", csv_field(words.names[i]), projection.points[i][0], projection.points[i][1]);
  return text;
}

Picture similarity_picture(const WordVectors& words, Similarity kind) {
  const std::vector<real> matrix = similarity_matrix(words.vectors, kind);
  const auto count = static_cast<int64_t>(words.names.size());
  return {.title = "",
          .maps = {heatmap_of(kind == Similarity::dot ? "dot products" : "cosines", {matrix.data(), count, count},
                              words.names, words.names)},
          .per_row = 1};
}

}  // namespace limpid
