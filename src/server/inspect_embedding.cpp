// Token vectors and positions.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "inference/decoder_state.h"
#include "inspect/embeddings_json.h"
#include "inspect/neuron_json.h"
#include "inspect/tap_rows.h"
#include "inspect/weights.h"
#include "layers/rope.h"
#include "server/http.h"
#include "server/inspect_relative.h"
#include "server/inspect_views.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;
using Answer = InspectCall::Answer;

Answer neighbours(InspectCall& call, const EmbeddingSpace& space, const Tokenizer& tokenizer, const WordVectors& words,
                  Similarity kind, int64_t top, std::vector<std::string> command) {
  Json json = neighbours_json(tokenizer, words.names[0], space.nearest(words.vectors[0], top, kind));
  command.insert(command.end(), {"--top", std::to_string(top)});
  return call.json(std::move(json), "embedding", command);
}

Answer map_of(InspectCall& call, const EmbeddingSpace& space, const Tokenizer& tokenizer, WordVectors words,
              Similarity kind, int64_t around, std::vector<std::string> command) {
  std::vector<std::string> near(words.names.size());
  const size_t given = words.names.size();
  for (size_t i = 0; i < given && around > 0; ++i)
    for (const Neighbour& one : space.nearest(words.vectors[i], around + 1, kind)) {
      const std::string name = piece_of(tokenizer, one.id);
      if (std::find(words.names.begin(), words.names.end(), name) != words.names.end()) continue;
      words.names.push_back(name);
      words.vectors.push_back(space.vector(one.id));
      near.push_back(words.names[i]);
    }
  if (words.names.size() < 3)
    throw HttpError(400, "A map wants at least three words, or \"neighbours_of_each\".", {.param = "words"});
  Json json = map_json(words, principal_components(words.vectors));
  for (size_t i = given; i < near.size(); ++i) json["points"][i]["near"] = near[i];
  command.emplace_back("--map");
  return call.json(std::move(json), "embedding", command);
}

}  // namespace

Answer view_embedding(InspectCall& call) {
  const std::string side = call.side();
  const std::vector<std::string> asked = call.fields.texts("words");
  const std::string measure = call.fields.text("similarity", "cosine");
  if (asked.empty() || asked.size() > 512)
    throw HttpError(400, "Name 1 to 512 words: \"words\": [\"king\", \"queen\"].", {.param = "words"});
  if (measure != "cosine" && measure != "dot")
    throw HttpError(400, "\"similarity\" is cosine or dot.", {.param = "similarity"});
  const int64_t top = call.fields.whole("top", 10, 1, 1000);
  const int64_t around = call.fields.whole("neighbours_of_each", 0, 0, 50);
  const std::string view = call.fields.text("view", asked.size() == 1 ? "neighbours" : "matrix");
  const Similarity kind = measure == "dot" ? Similarity::dot : Similarity::cosine;
  const Tokenizer& tokenizer = tokenizer_of(call.session(), side);
  const EmbeddingSpace space(call.model(), side);
  const WordVectors words = read_words(call.session(), space, tokenizer, asked);
  std::vector<std::string> command = asked;
  if (!side.empty()) command.insert(command.end(), {"--side", side});
  if (kind == Similarity::dot) command.emplace_back("--dot");
  if (view == "neighbours") return neighbours(call, space, tokenizer, words, kind, top, command);
  if (view == "map") return map_of(call, space, tokenizer, words, kind, around, command);
  if (view != "matrix") throw HttpError(400, "\"view\" is neighbours, matrix or map.", {.param = "view"});
  const std::vector<real> matrix = similarity_matrix(words.vectors, kind);
  Json values = Json::array();
  const auto count = words.names.size();
  for (size_t i = 0; i < count; ++i)
    values.push_back(std::vector<real>(matrix.begin() + static_cast<ptrdiff_t>(i * count),
                                       matrix.begin() + static_cast<ptrdiff_t>((i + 1) * count)));
  return call.json({{"words", words.names}, {"similarity", measure}, {"values", std::move(values)}}, "embedding",
                   command);
}

Answer view_positions(InspectCall& call) {
  const Config& config = call.config();
  const std::string side = call.side();
  const bool by_weight = config.positions == PositionKind::none && config.relative == RelativeKind::buckets;
  if (by_weight)  // whatever the text
    for (const char* field : {"text", "target"}) call.fields.any(field);
  else if (call.fields.has("text"))
    call.example_without_interventions();  // for the command, which captures a text
  const int64_t most = std::min<int64_t>(most_positions(config), 1 << 16);
  const int64_t from = call.fields.whole("from", 0, 0, most - 1);
  const int64_t count = std::min(call.fields.whole("count", 64, 1, 4096), most - from);
  call.check_tensors(0);  // of every kind a few numbers per position, but for those below
  ArrayBytes arrays;
  Json meta = {{"from", from}, {"count", count}};
  const std::string command =
      call.session().two_sided() ? (side.empty() ? "decoder" : side) + ".pos_embed" : "pos_embed";
  meta["relative"] = config.relative != RelativeKind::none;
  if (config.relative != RelativeKind::none) {
    const int64_t farthest = std::min<int64_t>(from + count - 1, 4095);
    const DistanceBias bias = distance_bias(call.model(), side, farthest);
    arrays.add("bias", {bias.heads, 2 * farthest + 1}, std::span<const real>(bias.values));
  }
  if (config.positions == PositionKind::rotary) {
    // As a text that reaches so far is turned: of some models a part of each head, at scaled frequencies.
    const auto rotation = Rope(config.rope, config.head_size).rotation(from + count);
    std::vector<real> angles;
    for (int64_t p = from; p < from + count; ++p)
      for (const double frequency : rotation->frequencies)
        angles.push_back(static_cast<real>(static_cast<double>(p) * frequency));
    arrays.add("angles", {count, std::ssize(rotation->frequencies)}, std::span<const real>(angles));
    meta.update({{"kind", "rotary"}, {"theta", config.rope.theta}});
    return call.tensors(arrays, std::move(meta), "capture", {"--tap", "*rot_q", "--out", "positions.safetensors"});
  }
  if (config.recurrent() || config.positions == PositionKind::none) {
    meta["kind"] = "none";
    if (by_weight)
      return call.tensors(arrays, std::move(meta), "weight",
                          {stack_names(config, side).relative_bias + ".weight", "--json"});
    if (config.relative == RelativeKind::slopes)
      return call.tensors(arrays, std::move(meta), "capture", {"--tap", "*.scores", "--out", "scores.safetensors"});
    return call.tensors(arrays, std::move(meta), "taps");
  }
  call.check_tensors(4 * count * config.width);
  // As a pass over so many tokens adds them, whichever tokens they are.
  const std::vector<int32_t> ids(static_cast<size_t>(from + count), 0);
  const auto values = tap_values(
      call.model(), example_of(config, call.session().two_sided() ? ids : std::vector<int32_t>{}, ids), {command});
  const TapValues& rows = values.at(command);
  arrays.add("positions", {count, rows.cols},
             std::span<const real>(rows.row(from), static_cast<size_t>(count * rows.cols)));
  meta["kind"] = config.positions == PositionKind::learned ? "learned" : "sinusoidal";
  return call.tensors(arrays, std::move(meta), "capture", {"--tap", command, "--out", "positions.safetensors"});
}

}  // namespace limpid
