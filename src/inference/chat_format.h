#pragma once
// ChatFormat: how a model wants to be talked to: its chat template with the special tokens that it names, and a
// conversation as the ids that the model reads.

#include <filesystem>
#include <optional>

#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace limpid {

class ChatFormat {
 public:
  ChatFormat(ChatTemplate chat, std::map<std::string, std::string> special)
      : chat_(std::move(chat)), special_(std::move(special)) {}

  // Of a folder or a GGUF file; none where the files have no template.
  static std::optional<ChatFormat> open(const std::filesystem::path& model);

  const ChatTemplate& chat() const { return chat_; }
  // The conversation as text; the special tokens are added to the options.
  std::string text(const nlohmann::ordered_json& messages, ChatOptions options = {}) const;
  // And as ids: special tokens of the template are special, and nothing is put around it.
  std::vector<int32_t> ids(const Tokenizer& tokenizer, const nlohmann::ordered_json& messages,
                           ChatOptions options = {}) const;

 private:
  ChatTemplate chat_;
  std::map<std::string, std::string> special_;
};

}  // namespace limpid
