#pragma once
// The JSON of OpenAI's completions: log-probabilities, choices and usage.

#include <nlohmann/json.hpp>

#include "inference/complete.h"
#include "inference/score.h"
#include "server/openai_answer.h"

namespace limpid {

using OrderedJson = nlohmann::ordered_json;

struct OpenAiUsage {
  int64_t prompt_tokens = 0, completion_tokens = 0;
};
OrderedJson usage_json(const OpenAiUsage& usage);

std::string finish_reason(FinishReason reason);

// Log-probabilities in the way of /v1/completions, which lists tokens, and of chat, which has an object per token.
class LogprobList {
 public:
  // `begins`: its first token is the first of a text, where the space before a first word is left out.
  LogprobList(OpenAiStyle style, const Tokenizer& tokenizer, bool begins)
      : style_(style), tokenizer_(tokenizer), begins_(begins) {}

  void add(const GeneratedToken& token);
  void add(const ScoredToken& token);
  // An echoed prompt: nothing stands before its first token. Offsets are those of characters in `text`, in which
  // special tokens and the space before a first word do not stand.
  void add_echo(const std::string& text, int32_t first, const std::vector<ScoredToken>& others);
  OrderedJson take();  // what has been added since the last time

 private:
  void add(int32_t id, double log_probability, const std::vector<TokenScore>& top);
  int64_t width(int32_t id);
  OrderedJson chat_entry(int32_t id, double log_probability) const;

  OpenAiStyle style_;
  const Tokenizer& tokenizer_;
  bool begins_;
  OrderedJson tokens_ = OrderedJson::array(), log_probabilities_ = OrderedJson::array(), top_ = OrderedJson::array(),
              offsets_ = OrderedJson::array();
  int64_t offset_ = 0;       // characters
  std::string_view echoed_;  // what is left of the echoed text while its tokens are added
  bool echoes_ = false;
};

// A token as a text shows it: its bytes where they are characters (" the"), "bytes:\xe2\x82" where they are a part of
// one, the name of one that stands for no text ("</s>").
std::string token_text(const Tokenizer& tokenizer, int32_t id);

// Text of any bytes: what is no UTF-8 is replaced.
std::string dump_json(const OrderedJson& json);

}  // namespace limpid
