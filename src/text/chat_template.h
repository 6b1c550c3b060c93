#pragma once
// ChatTemplate: a conversation as the text that a model was trained to read. The template is a small program in Jinja
// that comes with the model ("chat_template"); it sees what Hugging Face's library shows it.

#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace limpid {

namespace jinja {
struct Node;
}

struct ChatOptions {
  bool add_generation_prompt = true;       // ends where the model is to answer
  nlohmann::ordered_json tools = nullptr;  // a list of functions that the model may call
  nlohmann::ordered_json extra =
      nlohmann::ordered_json::object();             // variables of the template's own: "enable_thinking"
  std::map<std::string, std::string> special = {};  // "bos_token", "eos_token", …: as the tokenizer spells them
  std::optional<std::time_t> now = {};              // for strftime_now; none: the clock's time
};

class ChatTemplate {
 public:
  // An Error begins with "[chat template]" and names the line.
  static ChatTemplate parse(std::string text);

  // Messages: a list of objects with "role" and "content". What the template itself refuses (raise_exception) is an
  // Error too. Steps, memory and depth are bounded.
  std::string render(const nlohmann::ordered_json& messages, const ChatOptions& options = {}) const;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::shared_ptr<const jinja::Node> root_;
};

// The template of a model's folder: chat_template.jinja, the key of tokenizer_config.json (of several the one named
// "default", else the first) or of chat_template.json; empty where there is none.
std::string chat_template_of(const std::filesystem::path& folder);
// The special tokens that tokenizer_config.json or special_tokens_map.json names: "bos_token" and so on.
std::map<std::string, std::string> special_names_of(const std::filesystem::path& folder);

}  // namespace limpid
