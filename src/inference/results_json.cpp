#include "inference/results_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace limpid {

using Json = nlohmann::ordered_json;

std::string one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json top_json(const Tokenizer& tokenizer, const std::vector<TokenScore>& top) {
  Json result = Json::array();
  for (const TokenScore& token : top)
    result.push_back({{"id", token.id},
                      {"token", tokenizer.piece(token.id)},
                      {"log_probability", static_cast<double>(token.log_probability)}});
  return result;
}

Json completion_json(const Tokenizer& tokenizer, const CompletedPrompt& prompt, const Completion& completion, bool echo,
                     bool top) {
  Json tokens = Json::array();
  for (const GeneratedToken& token : completion.tokens) {
    tokens.push_back(
        {{"id", token.id}, {"token", tokenizer.piece(token.id)}, {"log_probability", token.log_probability}});
    if (top) tokens.back()["top"] = top_json(tokenizer, token.top);
  }
  Json result = {{"prompt", prompt.text},
                 {"text", (echo ? prompt.text : "") + completion.text},
                 {"finish_reason", name_of(completion.finish_reason)}};
  if (completion.finish_reason == FinishReason::stop_string) result["stop_string"] = completion.stop_string;
  result.update({{"seed", prompt.seed},
                 {"sample", prompt.sample},
                 {"prompt_tokens", prompt.tokens},
                 {"forgotten_tokens", completion.forgotten},
                 {"log_probability", completion.log_probability},
                 {"tokens", tokens}});
  return result;
}

Json masks_json(const Tokenizer& tokenizer, const std::string& text, const std::string& filled,
                const std::vector<FilledMask>& masks) {
  Json all = Json::array();
  for (const FilledMask& mask : masks)
    all.push_back({{"position", mask.position}, {"top", top_json(tokenizer, mask.top)}});
  return {{"text", text}, {"filled", filled}, {"masks", all}};
}

double perplexity(const TextScore& score) {
  return std::exp(-score.log_probability / static_cast<double>(std::max<size_t>(score.tokens.size(), 1)));
}

Json score_json(const Tokenizer& tokenizer, const std::string& text, const TextScore& score) {
  Json tokens = Json::array();
  for (const ScoredToken& token : score.tokens) {
    tokens.push_back({{"id", token.id},
                      {"token", tokenizer.piece(token.id)},
                      {"log_probability", token.log_probability},
                      {"rank", token.rank}});
    if (!token.top.empty()) tokens.back()["top"] = top_json(tokenizer, token.top);
  }
  return {{"text", text},
          {"log_probability", score.log_probability},
          {"perplexity", perplexity(score)},
          {"tokens", tokens}};
}

std::vector<size_t> ranked_labels(const std::vector<double>& numbers) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return numbers[a] > numbers[b]; });
  return order;
}

Json labels_json(const std::string& text, const std::vector<double>& numbers, const Config& config) {
  const std::vector<size_t> order = ranked_labels(numbers);
  Json all = Json::object();
  for (const size_t label : order) all[config.labels[label]] = numbers[label];
  const char* kind = label_numbers(config) == LabelNumbers::scores ? "scores" : "probabilities";
  return {{"text", text}, {"label", config.labels[order[0]]}, {kind, all}};
}

Json vector_json(const std::string& text, const std::vector<real>& vector) {
  return {{"text", text}, {"vector", vector}};
}

Json tokens_json(const Tokenizer& tokenizer, std::span<const int32_t> ids) {
  Json result = {{"ids", ids}, {"tokens", Json::array()}};
  for (const int32_t id : ids) result["tokens"].push_back(tokenizer.piece(id));
  result["text"] = tokenizer.decode(ids);
  return result;
}

}  // namespace limpid
