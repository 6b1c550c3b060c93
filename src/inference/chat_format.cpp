#include "inference/chat_format.h"

#include "base/error.h"
#include "base/paths.h"
#include "formats/gguf.h"
#include "text/storable_tokenizer.h"

namespace limpid {
namespace {

std::optional<ChatFormat> open_gguf(const std::filesystem::path& path) {
  const GgufFile file(path);
  const auto text = file.text("tokenizer.chat_template");
  if (!text || text->empty()) return std::nullopt;
  std::map<std::string, std::string> special;
  const auto* tokens = file.texts("tokenizer.ggml.tokens");
  for (const auto& [name, key] : {std::pair{"bos_token", "bos_token_id"},
                                  {"eos_token", "eos_token_id"},
                                  {"unk_token", "unknown_token_id"},
                                  {"pad_token", "padding_token_id"}}) {
    const auto id = file.integer(std::string("tokenizer.ggml.") + key);
    if (tokens && id && *id >= 0 && *id < std::ssize(*tokens)) special[name] = (*tokens)[static_cast<size_t>(*id)];
  }
  return ChatFormat(ChatTemplate::parse(*text), std::move(special));
}

}  // namespace

std::optional<ChatFormat> ChatFormat::open(const std::filesystem::path& model) {
  if (!is_folder(model)) return is_gguf(model) ? open_gguf(model) : std::nullopt;
  std::string text = chat_template_of(model);
  if (text.empty()) return std::nullopt;
  return ChatFormat(ChatTemplate::parse(std::move(text)), special_names_of(model));
}

std::string ChatFormat::text(const nlohmann::ordered_json& messages, ChatOptions options) const {
  options.special.insert(special_.begin(), special_.end());
  return chat_.render(messages, options);
}

std::vector<int32_t> ChatFormat::ids(const Tokenizer& tokenizer, const nlohmann::ordered_json& messages,
                                     ChatOptions options) const {
  const auto* storable = dynamic_cast<const StorableTokenizer*>(&tokenizer);
  check(storable != nullptr, "[chat] the tokenizer knows no special tokens: take the model's own");
  return storable->encode_with_special(text(messages, std::move(options)));
}

}  // namespace limpid
