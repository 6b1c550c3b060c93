#include "server/openai_call.h"

#include <charconv>
#include <random>

#include "inference/decoder_state.h"
#include "inference/model_text.h"
#include "server/text_length.h"

namespace limpid {
namespace {

using nlohmann::json;

constexpr int64_t kMostTokens = int64_t{1} << 31;

std::vector<std::string> read_stop(JsonFields& fields) {
  const json* value = fields.any("stop");
  if (!value) return {};
  std::vector<std::string> stop;
  const json list = value->is_array() ? *value : json::array({*value});
  for (const json& entry : list) {
    if (!entry.is_string() || entry.get_ref<const std::string&>().empty() || list.size() > 16)
      JsonFields::refuse("stop", "\"stop\" must be a text or a list of at most 16 texts, none of them empty.");
    stop.push_back(entry.get<std::string>());
  }
  return stop;
}

std::vector<std::pair<int32_t, double>> read_bias(JsonFields& fields) {
  const json* value = fields.any("logit_bias");
  if (!value) return {};
  const auto refuse = [] {
    JsonFields::refuse("logit_bias", "\"logit_bias\" must be an object of token ids with numbers from -100 to 100.");
  };
  if (!value->is_object() || value->size() > 1024) refuse();
  std::vector<std::pair<int32_t, double>> bias;
  for (const auto& [key, number] : value->items()) {
    int32_t id = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc() || end != key.data() + key.size() || id < 0 || !number.is_number()) refuse();
    const auto by = number.get<double>();
    if (!(by >= -100 && by <= 100)) refuse();
    bias.emplace_back(id, by);
  }
  return bias;
}

std::vector<int32_t> token_ids(const json& list, const char* field) {
  std::vector<int32_t> ids;
  for (const json& entry : list) {
    if (!entry.is_number_integer() || entry.get<int64_t>() < 0 || entry.get<int64_t>() > INT32_MAX)
      JsonFields::refuse(field, fmt::format("\"{}\": token ids are whole numbers.", field));
    ids.push_back(entry.get<int32_t>());
  }
  return ids;
}

void check_length(int64_t tokens, int64_t most, const char* field) {
  if (tokens > most)
    throw HttpError(400, fmt::format("The prompt has {} tokens and {} are allowed: shorten it.", tokens, most),
                    {.param = field, .code = "context_length_exceeded"});
}

void check_text_count(int64_t texts, const RequestLimits& limits, const char* field) {
  if (texts > limits.texts)
    JsonFields::refuse(field, fmt::format("{} texts are asked for at once and {} allowed.", texts, limits.texts));
}

}  // namespace

int64_t most_prompt_tokens(const ServedModel& model, const RequestLimits& limits) {
  const int64_t context = context_length(model.config());
  return limits.prompt_tokens > 0 ? std::min(limits.prompt_tokens, context) : context;
}

std::vector<OpenAiCall::Prompt> read_texts(const json& value, const char* field, const ServedModel& model,
                                           const RequestLimits& limits, IdsOfText ids_of) {
  const int64_t most = most_prompt_tokens(model, limits);
  const auto of_text = [&](const std::string& text) {
    check_text_bytes(text.size(), most, field);
    return OpenAiCall::Prompt{ids_of(model.loaded(), text), text};
  };
  const auto of_ids = [&](const json& list) {
    std::vector<int32_t> ids = token_ids(list, field);
    check_length(std::ssize(ids), most, field);
    if (ids.empty()) JsonFields::refuse(field, fmt::format("\"{}\" has a list without tokens.", field));
    std::string text = model.loaded().reader().decode(ids);
    return OpenAiCall::Prompt{std::move(ids), std::move(text)};
  };
  if (value.is_string()) return {of_text(value.get<std::string>())};
  if (!value.is_array() || value.empty())
    JsonFields::refuse(field, fmt::format("\"{}\" must be a text, a list of texts, or token ids.", field));
  if (value[0].is_number()) return {of_ids(value)};
  check_text_count(std::ssize(value), limits, field);
  std::vector<OpenAiCall::Prompt> texts;
  for (const json& entry : value) {
    if (!entry.is_string() && !entry.is_array())
      JsonFields::refuse(field, fmt::format("\"{}\" must be a text, a list of texts, or token ids.", field));
    texts.push_back(entry.is_string() ? of_text(entry.get<std::string>()) : of_ids(entry));
  }
  return texts;
}

OpenAiCall read_call(JsonFields& fields) {
  OpenAiCall call;
  call.model = fields.text("model");
  call.options.temperature = fields.number("temperature", 0, 100);
  call.options.top_p = fields.number("top_p", 0, 1);
  if (call.options.top_p == 0) call.options.temperature = 0;  // the likeliest token alone
  if (call.options.top_p == 0) call.options.top_p = 1;
  call.options.min_p = fields.number("min_p", 0, 1);
  call.options.top_k = fields.whole("top_k", -1, 1 << 30);
  if (call.options.top_k == -1) call.options.top_k = 0;  // as other servers say that it is off
  call.options.repetition_penalty = fields.number("repetition_penalty", 0.01, 100);
  call.options.max_tokens = fields.whole("max_tokens", 0, kMostTokens);
  call.sampling.presence_penalty = fields.number("presence_penalty", -2, 2).value_or(0);
  call.sampling.frequency_penalty = fields.number("frequency_penalty", -2, 2).value_or(0);
  call.sampling.bias = read_bias(fields);
  call.n = fields.whole("n", 1, 128).value_or(1);
  call.best_of = call.n;
  call.stop = read_stop(fields);
  constexpr int64_t kMostSeed = int64_t{1} << 53;
  const auto seed = fields.whole("seed", -kMostSeed, kMostSeed);
  call.seed = seed ? static_cast<uint64_t>(*seed) : std::random_device{}();
  call.stream = fields.flag("stream");
  call.ignore_end = fields.flag("ignore_eos");
  if (const json* options = fields.any("stream_options")) {
    if (!options->is_object() || !call.stream)
      JsonFields::refuse("stream_options", "\"stream_options\" must be an object and goes with \"stream\": true.");
    JsonFields inner(*options);
    call.include_usage = inner.flag("include_usage");
    inner.ignore({"include_obfuscation"});
    inner.finish();
  }
  fields.ignore({"user", "store", "metadata", "service_tier", "safety_identifier", "prompt_cache_key"});
  return call;
}

CompletionOptions completion_options(const OpenAiCall& call, const ServedModel& model, int64_t prompt_tokens,
                                     const RequestLimits& limits) {
  CompletionOptions options = merged_completion(call.options, model.loaded().generation, prompt_tokens,
                                                {.sampling = call.sampling, .max_tokens = 256});
  const int64_t context = context_length(model.config());
  const bool continues = model.config().continues_text();
  const int64_t room = continues ? std::max<int64_t>(1, context - prompt_tokens + 1) : context;
  options.max_tokens = std::min(options.max_tokens, std::max<int64_t>(room, 1));
  if (limits.output_tokens > 0) options.max_tokens = std::min(options.max_tokens, limits.output_tokens);
  options.max_tokens = std::max<int64_t>(options.max_tokens, 1);
  options.stop = call.stop;
  options.seed = call.seed;
  options.top = std::max<int64_t>(call.logprobs, 0);
  options.slide = false;
  options.ignore_end = call.ignore_end;
  return options;
}

void check_call(const OpenAiCall& call, const char* field, const ServedModel& model, const RequestLimits& limits) {
  const Config& config = model.config();
  const int64_t most = most_prompt_tokens(model, limits);
  for (const OpenAiCall::Prompt& prompt : call.prompts) {
    check_length(std::ssize(prompt.ids), most, field);
    for (const int32_t id : prompt.ids)
      if (id < 0 || id >= config.vocab)
        JsonFields::refuse(field, fmt::format("The prompt has a token {} and the model {} tokens.", id, config.vocab));
  }
  if (limits.output_tokens > 0 && call.options.max_tokens.value_or(0) > limits.output_tokens)
    JsonFields::refuse(call.most_tokens_field, fmt::format("{} tokens are asked for and {} allowed.",
                                                           *call.options.max_tokens, limits.output_tokens));
  for (const auto& [id, by] : call.sampling.bias)
    if (id >= config.vocab)
      JsonFields::refuse("logit_bias", fmt::format("There is no token {}: the model has {}.", id, config.vocab));
  check_text_count(std::ssize(call.prompts) * call.best_of, limits, "n");
}

}  // namespace limpid
