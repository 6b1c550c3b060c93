#include <cmath>

#include "base/base64.h"
#include "inference/embedding.h"
#include "inference/model_text.h"
#include "server/openai_json.h"
#include "server/openai_routes.h"

namespace limpid {
namespace {

// The first `dimensions` numbers, again of length 1.
std::vector<float> shortened(const std::vector<real>& vector, size_t dimensions) {
  std::vector<float> result(vector.begin(), vector.begin() + static_cast<ptrdiff_t>(dimensions));
  double squares = 0;
  for (const float x : result) squares += static_cast<double>(x) * x;
  if (squares > 0 && dimensions < vector.size())
    for (float& x : result) x = static_cast<float>(x / std::sqrt(squares));
  return result;
}

}  // namespace

Response answer_embeddings(const ServedModels& models, const RequestLimits& limits, Metrics* metrics,
                           const Request& request) {
  JsonFields fields(request);
  const ServedModel& model = models.find(fields.text("model"));
  const std::string format = fields.text("encoding_format", "float");
  if (format != "float" && format != "base64")
    JsonFields::refuse("encoding_format", "\"encoding_format\" is \"float\" or \"base64\".");
  const auto dimensions = fields.whole("dimensions", 1, 1 << 30);
  const nlohmann::json& input = fields.needed("input");
  fields.ignore({"user"});
  fields.finish();
  OpenAiCall call;
  RequestLimits own = limits;
  own.texts = std::max<int64_t>(own.texts, 2048);  // as OpenAI has it
  call.prompts = read_texts(input, "input", model, own, sentence_ids);
  check_call(call, "input", model, own);
  std::vector<std::vector<int32_t>> texts;
  OpenAiUsage usage;
  for (OpenAiCall::Prompt& prompt : call.prompts) {
    usage.prompt_tokens += std::ssize(prompt.ids);
    texts.push_back(std::move(prompt.ids));
  }
  EmbeddingOptions options = model.loaded().sentence.embedding;
  options.normalize = true;
  const auto vectors = embed(*model.loaded().model, texts, options);
  const auto width = static_cast<int64_t>(vectors.empty() ? 0 : vectors[0].size());
  if (dimensions && *dimensions > width)
    JsonFields::refuse("dimensions", fmt::format("The model's vectors have {} numbers.", width));
  count_tokens(metrics, model, usage.prompt_tokens, 0);
  OrderedJson data = OrderedJson::array();
  for (size_t i = 0; i < vectors.size(); ++i) {
    const std::vector<float> vector = shortened(vectors[i], static_cast<size_t>(dimensions.value_or(width)));
    OrderedJson entry = {{"object", "embedding"}, {"index", i}};
    if (format == "base64")
      entry["embedding"] = base64({reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(vector[0])});
    else
      entry["embedding"] = vector;
    data.push_back(std::move(entry));
  }
  return {200, dump_json({{"object", "list"},
                          {"data", std::move(data)},
                          {"model", model.id},
                          {"usage", {{"prompt_tokens", usage.prompt_tokens}, {"total_tokens", usage.prompt_tokens}}}})};
}

}  // namespace limpid
