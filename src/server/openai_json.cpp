#include "server/openai_json.h"

#include <algorithm>
#include <cmath>

#include "text/utf8.h"

namespace limpid {
namespace {

int64_t characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

// A model may have more ids than its tokenizer has tokens.
std::string token_bytes(const Tokenizer& tokenizer, int32_t id) {
  return id < 0 || id >= tokenizer.size() ? "" : tokenizer.bytes(id);
}

// OpenAI's clients cannot read -Infinity.
double bounded(double log_probability) { return std::isfinite(log_probability) ? log_probability : -9999.0; }

}  // namespace

std::string dump_json(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson usage_json(const OpenAiUsage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens}};
}

std::string finish_reason(FinishReason reason) {
  return reason == FinishReason::end_token || reason == FinishReason::stop_string ? "stop" : "length";
}

std::string token_text(const Tokenizer& tokenizer, int32_t id) {
  const std::string bytes = token_bytes(tokenizer, id);
  if (bytes.empty()) return id < 0 || id >= tokenizer.size() ? "#" + std::to_string(id) : tokenizer.piece(id);
  if (!invalid_utf8(bytes)) return bytes;
  std::string text = "bytes:";
  for (const char byte : bytes) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return text;
}

OrderedJson LogprobList::chat_entry(int32_t id, double log_probability) const {
  OrderedJson bytes = OrderedJson::array();
  for (const char c : token_bytes(tokenizer_, id)) bytes.push_back(static_cast<unsigned char>(c));
  return {{"token", token_text(tokenizer_, id)},
          {"logprob", bounded(log_probability)},
          {"bytes", bytes.empty() ? OrderedJson() : std::move(bytes)}};
}

void LogprobList::add(int32_t id, double log_probability, const std::vector<TokenScore>& top) {
  if (style_ == OpenAiStyle::chat) {
    OrderedJson entry = chat_entry(id, log_probability);
    entry["top_logprobs"] = OrderedJson::array();
    for (const TokenScore& other : top)
      if (other.id >= 0)
        entry["top_logprobs"].push_back(chat_entry(other.id, static_cast<double>(other.log_probability)));
    tokens_.push_back(std::move(entry));
    return;
  }
  tokens_.push_back(token_text(tokenizer_, id));
  log_probabilities_.push_back(bounded(log_probability));
  OrderedJson likeliest = OrderedJson::object();
  for (const TokenScore& other : top)  // of two that look the same the likelier one
    if (other.id >= 0)
      likeliest.emplace(token_text(tokenizer_, other.id), bounded(static_cast<double>(other.log_probability)));
  top_.push_back(top.empty() ? OrderedJson() : std::move(likeliest));
  offsets_.push_back(offset_);
  offset_ += width(id);
}

void LogprobList::add(const GeneratedToken& token) { add(token.id, token.log_probability, token.top); }
void LogprobList::add(const ScoredToken& token) { add(token.id, token.log_probability, token.top); }

void LogprobList::add_echo(const std::string& text, int32_t first, const std::vector<ScoredToken>& others) {
  echoes_ = true;
  echoed_ = text;
  add(first, 0, {});
  if (style_ == OpenAiStyle::text) log_probabilities_.back() = nullptr;
  for (const ScoredToken& token : others) add(token);
  echoes_ = false;
  offset_ = characters(text);
}

// Characters that begin within a token in the text.
int64_t LogprobList::width(int32_t id) {
  const std::string whole = token_bytes(tokenizer_, id);
  std::string_view bytes = whole;
  if (echoes_) {
    if (!echoed_.starts_with(bytes) && bytes.starts_with(' ')) bytes.remove_prefix(1);
    if (!echoed_.starts_with(bytes)) return 0;
    echoed_.remove_prefix(bytes.size());
  } else if (begins_ && !bytes.empty()) {
    begins_ = false;
    if (bytes.starts_with(' ') && !tokenizer_.decode({&id, 1}).starts_with(' ')) bytes.remove_prefix(1);
  }
  return characters(bytes);
}

OrderedJson LogprobList::take() {
  const auto taken = [](OrderedJson& list) { return std::exchange(list, OrderedJson::array()); };
  if (style_ == OpenAiStyle::chat) return {{"content", taken(tokens_)}, {"refusal", nullptr}};
  return {{"tokens", taken(tokens_)},
          {"token_logprobs", taken(log_probabilities_)},
          {"top_logprobs", taken(top_)},
          {"text_offset", taken(offsets_)}};
}

}  // namespace limpid
